//! DescribeTimeToLive: whether and by which attribute items expire.

use partita_value::names::TableName;

/// The request of DescribeTimeToLive.
#[derive(Clone, Debug)]
pub struct DescribeTimeToLive {
    /// The table.
    pub table: TableName,
}

/// The response to DescribeTimeToLive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeTimeToLiveOutput {
    /// The status.
    pub status: TimeToLiveStatus,
    /// The attribute with the expiry time, if items expire.
    pub attribute: Option<String>,
}

/// Whether the items of a table expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeToLiveStatus {
    /// Being enabled.
    Enabling,
    /// They expire.
    Enabled,
    /// They do not.
    Disabled,
}

impl TimeToLiveStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            TimeToLiveStatus::Enabling => "ENABLING",
            TimeToLiveStatus::Enabled => "ENABLED",
            TimeToLiveStatus::Disabled => "DISABLED",
        }
    }
}
