//! DeleteBackup: lets go of a backup's moment. What only it needed goes in the background.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::exchange::exchange_record::{ExchangeRecord, not_found};
use crate::history::History;
use partita_api::backup::delete_backup::{DeleteBackup, DeleteBackupOutput};
use partita_api::backup::{BackupKind, BackupStatus};
use partita_api::{Exception, ExceptionKind};
use partita_store::Store;
use partita_value::calendar::timestamp;

impl<S: Store> Engine<S> {
    pub async fn delete_backup(&self, request: DeleteBackup) -> Result<DeleteBackupOutput, Exception> {
        let mut backup: BackupRecord = self.exchange(&request.arn)?;
        if backup.details.kind == BackupKind::System {
            let expires = timestamp(backup.details.expires_millis.unwrap_or_default());
            return Err(Exception::validation(format!(
                "Invalid Request: User is not allowed to delete the system backup with arn {}. It will automatically expire on {expires}",
                request.arn
            )));
        }
        let (id, forget, arn) = (backup.id().to_owned(), backup.forget(), request.arn);
        let change = move |history: Option<&mut History>| {
            let is_there = |history: &&mut History| history.pins.iter().any(|pin| pin.holder == id);
            let history = history.filter(is_there).ok_or_else(|| not_found::<BackupRecord>(&arn))?;
            if history.pins.iter().any(|pin| pin.backup.as_ref() == Some(&id)) {
                let message = format!("Backup is being used to restore table: {arn}");
                return Err(Exception::new(ExceptionKind::BackupInUseException, message));
            }
            history.unpin(&id);
            Ok(vec![forget.clone()])
        };
        self.change_known_history(backup.history(), change).await?;
        self.wake_maintenance();
        backup.details.status = BackupStatus::Deleted;
        Ok(DeleteBackupOutput { backup: self.describe_backup_record(backup)? })
    }
}
