//! DescribeLimits: how much throughput an account and a table may have.

#[derive(Clone, Copy, Debug)]
pub struct DescribeLimits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeLimitsOutput {
    pub account_read: u64,
    pub account_write: u64,
    pub table_read: u64,
    pub table_write: u64,
}
