//! ListBackups: backups, oldest first.

use crate::backup::{BackupKind, BackupSummary};
use partita_value::names::TableName;

/// The request of ListBackups.
#[derive(Clone, Debug)]
pub struct ListBackups {
    /// Only backups of this table.
    pub table: Option<TableName>,
    /// The maximum number of entries in a page.
    pub limit: usize,
    /// Only backups made at this time or later.
    pub from_millis: Option<u64>,
    /// Only backups made before this time.
    pub before_millis: Option<u64>,
    /// The ARN of the backup after which the page starts.
    pub start_after: Option<String>,
    /// Only backups of these kinds.
    pub kinds: Vec<BackupKind>,
}

/// The response to ListBackups.
#[derive(Clone, Debug, PartialEq)]
pub struct ListBackupsOutput {
    /// The page of backups.
    pub backups: Vec<BackupSummary>,
    /// The ARN after which the next page starts; `None` on the last page.
    pub last: Option<String>,
}
