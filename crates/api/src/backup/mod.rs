//! A backup: what CreateBackup makes, and DescribeBackup, ListBackups and DeleteBackup show.

crate::operation_modules!(backup);
pub mod continuous_backups;
pub mod restore;

use crate::table::TableDescription;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};

/// Who made a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackupKind {
    User,
    /// What is left of a deleted table that had point-in-time recovery.
    System,
}

impl BackupKind {
    pub fn name(self) -> &'static str {
        match self {
            BackupKind::User => "USER",
            BackupKind::System => "SYSTEM",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackupStatus {
    Creating,
    Available,
    Deleted,
}

impl BackupStatus {
    pub fn name(self) -> &'static str {
        match self {
            BackupStatus::Creating => "CREATING",
            BackupStatus::Available => "AVAILABLE",
            BackupStatus::Deleted => "DELETED",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupDetails {
    pub arn: String,
    pub name: String,
    pub kind: BackupKind,
    pub status: BackupStatus,
    pub size_bytes: u64,
    pub created_millis: u64,
    /// Backups of users stay until they are deleted.
    pub expires_millis: Option<u64>,
}

/// A line of a list of backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    pub details: BackupDetails,
    pub table_name: TableName,
    pub table_id: String,
    pub table_arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BackupDescription {
    pub details: BackupDetails,
    /// The table as it was.
    pub table: Box<TableDescription>,
    /// The attribute by which its items expired.
    pub time_to_live: Option<String>,
}
