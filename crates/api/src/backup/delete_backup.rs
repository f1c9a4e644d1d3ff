//! DeleteBackup: forgets a backup.

use crate::backup::describe_backup::DescribeBackupOutput;

#[derive(Clone, Debug)]
pub struct DeleteBackup {
    pub arn: String,
}

pub type DeleteBackupOutput = DescribeBackupOutput;
