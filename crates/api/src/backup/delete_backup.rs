//! DeleteBackup: removes a backup.

use crate::backup::BackupOutput;

/// The request of DeleteBackup.
#[derive(Clone, Debug)]
pub struct DeleteBackup {
    /// The ARN of the backup.
    pub arn: String,
}

/// The response to DeleteBackup.
pub type DeleteBackupOutput = BackupOutput;
