//! RestoreTableToPointInTime: a new table with the items that a table had at a point in time.

use crate::backup::restore::RestoreOverrides;
use crate::table::table_output::TableOutput;
use partita_value::names::TableName;

/// The request of RestoreTableToPointInTime.
#[derive(Clone, Debug)]
pub struct RestoreTableToPointInTime {
    /// The table to restore.
    pub source: TableName,
    /// The name of the new table.
    pub target: TableName,
    /// The time in milliseconds since 1970; the latest possible one if `None`.
    pub at_millis: Option<i64>,
    /// What differs from the source.
    pub overrides: RestoreOverrides,
}

/// The response to RestoreTableToPointInTime.
pub type RestoreTableToPointInTimeOutput = TableOutput;
