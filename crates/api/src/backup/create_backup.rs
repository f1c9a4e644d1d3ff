//! CreateBackup: what a table is now, kept apart from its fate.

use crate::backup::BackupDetails;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct CreateBackup {
    pub table: TableName,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateBackupOutput {
    pub details: BackupDetails,
}
