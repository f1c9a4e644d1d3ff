//! RestoreTableFromBackup: a backup as a new table.

use crate::backup::restore::RestoreOverrides;
use crate::table::TableDescription;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct RestoreTableFromBackup {
    pub target: TableName,
    pub backup_arn: String,
    pub overrides: RestoreOverrides,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RestoreTableFromBackupOutput {
    pub table: TableDescription,
}
