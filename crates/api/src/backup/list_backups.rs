//! ListBackups: backups, oldest first.

use crate::backup::{BackupKind, BackupSummary};
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct ListBackups {
    pub table: Option<TableName>,
    pub limit: usize,
    /// Made at this time or later.
    pub from_millis: Option<u64>,
    /// Made before this time.
    pub before_millis: Option<u64>,
    /// The ARN of the backup behind which the page begins.
    pub behind: Option<String>,
    pub kinds: Vec<BackupKind>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListBackupsOutput {
    pub backups: Vec<BackupSummary>,
    /// The ARN behind which the next page begins.
    pub last: Option<String>,
}
