//! Backups, point-in-time recovery, and restores from either.

crate::operation_modules!(backup);
pub mod continuous_backups;
pub mod restore;

use crate::table::TableDescription;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};

/// Who made a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackupKind {
    /// A user, by CreateBackup.
    User,
    /// The server, when a table with point-in-time recovery was deleted.
    System,
}

impl BackupKind {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            BackupKind::User => "USER",
            BackupKind::System => "SYSTEM",
        }
    }
}

/// The state of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackupStatus {
    /// Being created.
    Creating,
    /// Ready to be restored.
    Available,
    /// Deleted.
    Deleted,
}

impl BackupStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            BackupStatus::Creating => "CREATING",
            BackupStatus::Available => "AVAILABLE",
            BackupStatus::Deleted => "DELETED",
        }
    }
}

/// What identifies a backup, and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupDetails {
    /// The ARN of the backup.
    pub arn: String,
    /// The name of the backup.
    pub name: String,
    /// Who made it.
    pub kind: BackupKind,
    /// The state.
    pub status: BackupStatus,
    /// The size of its items in bytes.
    pub size_bytes: u64,
    /// When it was made, in milliseconds since 1970.
    pub created_millis: u64,
    /// When it expires, in milliseconds since 1970; `None` for backups made by users.
    pub expires_millis: Option<u64>,
}

/// A backup in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    /// The backup.
    pub details: BackupDetails,
    /// The name of its table.
    pub table_name: TableName,
    /// The id of its table.
    pub table_id: String,
    /// The ARN of its table.
    pub table_arn: String,
}

/// A backup and the table it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct BackupDescription {
    /// The backup.
    pub details: BackupDetails,
    /// The table as it was when the backup was made.
    pub table: Box<TableDescription>,
    /// The attribute by which its items expired, if they did.
    pub time_to_live: Option<String>,
}

/// The response to DescribeBackup and DeleteBackup.
#[derive(Clone, Debug, PartialEq)]
pub struct BackupOutput {
    /// The backup.
    pub backup: BackupDescription,
}
