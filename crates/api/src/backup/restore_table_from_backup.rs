//! RestoreTableFromBackup: a new table with the items of a backup.

use crate::backup::restore::RestoreOverrides;
use crate::table::table_output::TableOutput;
use partita_value::names::TableName;

/// The request of RestoreTableFromBackup.
#[derive(Clone, Debug)]
pub struct RestoreTableFromBackup {
    /// The name of the new table.
    pub target: TableName,
    /// The ARN of the backup.
    pub backup_arn: String,
    /// What differs from the source.
    pub overrides: RestoreOverrides,
}

/// The response to RestoreTableFromBackup.
pub type RestoreTableFromBackupOutput = TableOutput;
