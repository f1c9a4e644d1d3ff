//! UpdateTimeToLive: items expire at the time one of their attributes tells, or no longer do.

use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct UpdateTimeToLive {
    pub table: TableName,
    pub attribute: String,
    pub enabled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTimeToLiveOutput {
    pub attribute: String,
    pub enabled: bool,
}
