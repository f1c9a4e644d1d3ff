//! DescribeTimeToLive: whether and by which attribute items expire.

use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct DescribeTimeToLive {
    pub table: TableName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeTimeToLiveOutput {
    pub status: TimeToLiveStatus,
    pub attribute: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeToLiveStatus {
    Enabling,
    Enabled,
    Disabled,
}

impl TimeToLiveStatus {
    pub fn name(self) -> &'static str {
        match self {
            TimeToLiveStatus::Enabling => "ENABLING",
            TimeToLiveStatus::Enabled => "ENABLED",
            TimeToLiveStatus::Disabled => "DISABLED",
        }
    }
}
