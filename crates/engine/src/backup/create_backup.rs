//! CreateBackup: pins the present in the table's history and notes what the table is. Nothing is copied.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::catalog::table::TableRecord;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::{History, Moment, Pin};
use crate::key::stored_key::Key;
use partita_api::Exception;
use partita_api::backup::create_backup::{CreateBackup, CreateBackupOutput};
use partita_api::backup::{BackupDetails, BackupKind, BackupStatus};
use partita_store::{Counters, Rows, Store, Write};
use partita_value::names::table_arn;

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

    pub(crate) fn backup_arn(&self, table: &str) -> String {
        format!("{}/backup/{}", table_arn(&self.region, table), self.new_exchange_id())
    }
}

/// Keeps what a table is at a moment that was just ticked; returns the write that stores the backup.
pub fn pin_backup(
    table: &TableRecord,
    history: &mut History,
    moment: Moment,
    counters: Counters,
    details: BackupDetails,
) -> Write {
    let backup = BackupRecord {
        details: BackupDetails { size_bytes: counters.bytes.max(0) as u64, ..details },
        table: table.clone(),
        items: counters.rows.max(0) as u64,
        history: history.space,
        moment,
    };
    history.pin_now(Pin {
        holder: backup.id().to_owned(),
        moment,
        backup: None,
        expires_millis: backup.details.expires_millis,
    });
    backup.store()
}
