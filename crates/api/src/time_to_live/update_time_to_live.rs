//! UpdateTimeToLive: enables or disables expiry by an attribute.

use partita_value::names::TableName;

/// The request of UpdateTimeToLive.
#[derive(Clone, Debug)]
pub struct UpdateTimeToLive {
    /// The table.
    pub table: TableName,
    /// The attribute with the expiry time.
    pub attribute: String,
    /// Whether items are to expire.
    pub enabled: bool,
}

/// The response to UpdateTimeToLive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTimeToLiveOutput {
    /// The attribute with the expiry time.
    pub attribute: String,
    /// Whether items expire.
    pub enabled: bool,
}
