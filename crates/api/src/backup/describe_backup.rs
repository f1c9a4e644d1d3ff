//! DescribeBackup: a backup, and the table it was made from.

use crate::backup::BackupOutput;

/// The request of DescribeBackup.
#[derive(Clone, Debug)]
pub struct DescribeBackup {
    /// The ARN of the backup.
    pub arn: String,
}

/// The response to DescribeBackup.
pub type DescribeBackupOutput = BackupOutput;
