//! DescribeBackup: a backup, and the table it is of.

use crate::backup::BackupDescription;

#[derive(Clone, Debug)]
pub struct DescribeBackup {
    pub arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeBackupOutput {
    pub backup: BackupDescription,
}
