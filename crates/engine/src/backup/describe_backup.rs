//! DescribeBackup: a backup, and the table it is of.

use crate::Engine;
use partita_api::Exception;
use partita_api::backup::describe_backup::{DescribeBackup, DescribeBackupOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_backup(&self, request: DescribeBackup) -> Result<DescribeBackupOutput, Exception> {
        let record = self.exchange(&request.arn)?;
        Ok(DescribeBackupOutput { backup: self.describe_backup_record(record)? })
    }
}
