//! RestoreTableToPointInTime: a table as it was, as a new table.

use crate::backup::restore::RestoreOverrides;
use crate::backup::restore_table_from_backup::RestoreTableFromBackupOutput;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct RestoreTableToPointInTime {
    pub source: TableName,
    pub target: TableName,
    /// Milliseconds since 1970; the latest moment, if none is given.
    pub at_millis: Option<i64>,
    pub overrides: RestoreOverrides,
}

pub type RestoreTableToPointInTimeOutput = RestoreTableFromBackupOutput;
