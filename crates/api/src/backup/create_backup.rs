//! CreateBackup: preserves a table as it is now; the backup outlives the table.

use crate::backup::BackupDetails;
use partita_value::names::TableName;

/// The request of CreateBackup.
#[derive(Clone, Debug)]
pub struct CreateBackup {
    /// The table to back up.
    pub table: TableName,
    /// The name of the backup.
    pub name: String,
}

/// The response to CreateBackup.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateBackupOutput {
    /// The backup.
    pub details: BackupDetails,
}
