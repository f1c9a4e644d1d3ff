//! DescribeLimits: the maximum throughput of an account and of a table.

/// The request of DescribeLimits.
#[derive(Clone, Copy, Debug)]
pub struct DescribeLimits;

/// The response to DescribeLimits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeLimitsOutput {
    /// The maximum read units of the account.
    pub account_read: u64,
    /// The maximum write units of the account.
    pub account_write: u64,
    /// The maximum read units of a table.
    pub table_read: u64,
    /// The maximum write units of a table.
    pub table_write: u64,
}
