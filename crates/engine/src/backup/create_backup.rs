//! CreateBackup: pins the current moment in the table's history and stores the table's record. No items are copied.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::backup::new_backup::pin_backup;
use crate::catalog::table::TableRecord;
use crate::history::{History, Moment};
use crate::key::stored_key::Key;
use partita_api::Exception;
use partita_api::backup::create_backup::{CreateBackup, CreateBackupOutput};
use partita_api::backup::{BackupDetails, BackupKind, BackupStatus};
use partita_store::{Counters, Rows, Store};

impl<S: Store> Engine<S> {
    pub async fn create_backup(&self, request: CreateBackup) -> Result<CreateBackupOutput, Exception> {
        let table = self.catalog.source_table(&request.table)?;
        let mut details = BackupDetails {
            arn: self.backup_arn(table.name.as_str()),
            name: request.name,
            kind: BackupKind::User,
            status: BackupStatus::Available,
            size_bytes: 0,
            created_millis: self.clock.now_millis(),
            expires_millis: None,
        };
        let planned = details.clone();
        let change = move |record: &TableRecord, history: &mut History, moment: Moment, rows: &Rows<'_>| {
            let counters = Counters::read(rows[0].as_deref());
            Ok(vec![pin_backup(record, history, moment, counters, planned.clone())])
        };
        let counters = Key::Counters { of: table.space }.to_bytes();
        self.change_history(&table, vec![counters], change).await?;
        details.size_bytes = self.exchange::<BackupRecord>(&details.arn)?.details.size_bytes;
        details.status = BackupStatus::Creating;
        Ok(CreateBackupOutput { details })
    }
}
