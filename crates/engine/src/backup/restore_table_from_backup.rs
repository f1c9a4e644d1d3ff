//! RestoreTableFromBackup: creates the table and stores the restore, which continues in the background (`restore_step.rs`).

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::exchange::exchange_record::{ExchangeRecord, id_of_arn, key, not_found, read};
use crate::history::History;
use crate::key::stored_key::Key;
use crate::storage_failed;
use partita_api::Exception;
use partita_api::backup::restore_table_from_backup::{RestoreTableFromBackup, RestoreTableFromBackupOutput};
use partita_api::table::RestoreSummary;
use partita_store::{Decision, Rows, Store};

impl<S: Store> Engine<S> {
    pub async fn restore_table_from_backup(
        &self,
        request: RestoreTableFromBackup,
    ) -> Result<RestoreTableFromBackupOutput, Exception> {
        let backup: BackupRecord = self.exchange(&request.backup_arn)?;
        self.catalog.refuse_lost(&request.target)?;
        let restore = self.new_restore(request.target, request.overrides);
        let keys = vec![
            Key::TableRecord { name: restore.table.name.as_str() }.to_bytes(),
            Key::NextSpace.to_bytes(),
            key::<BackupRecord>(id_of_arn(&request.backup_arn)),
        ];
        let (catalog, planned) = (self.catalog.clone(), restore.clone());
        let decision = move |rows: &Rows<'_>| {
            if let Some(row) = rows[0].as_deref() {
                return Decision::rejection(Err(planned.taken(row)));
            }
            // The backup may have been deleted in the meantime.
            let exists = rows[2].as_deref().is_some_and(|row| read::<BackupRecord>(row).is_ok());
            let Some(history) = catalog.history(backup.history()).filter(|_| exists) else {
                return Decision::rejection(Err(not_found::<BackupRecord>(backup.arn())));
            };
            let mut history = History::clone(&history);
            history.pin_past(planned.pin(backup.moment, Some(backup.id().to_owned())));
            let summary = RestoreSummary {
                backup_arn: Some(backup.arn().to_owned()),
                table_arn: Some(backup.table_arn().to_owned()),
                at_millis: backup.details.created_millis,
                in_progress: true,
            };
            let past = (history, backup.moment);
            planned
                .begin(&backup.table, summary, past, rows[1].as_deref(), &catalog)
                .unwrap_or_else(|exception| Decision::rejection(Err(exception)))
        };
        let record = self.store.decide(keys, decision).await.map_err(storage_failed)??;
        Ok(RestoreTableFromBackupOutput { table: self.restore_started(&restore, record)? })
    }
}
