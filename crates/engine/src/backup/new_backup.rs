//! Creates a backup, for CreateBackup and for a deleted table, by pinning a moment in the table's history.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::catalog::table::TableRecord;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::{History, Moment, Pin};
use partita_api::backup::BackupDetails;
use partita_store::{Counters, Store, Write};
use partita_value::names::table_arn;

impl<S: Store> Engine<S> {
    /// Returns a new ARN for a backup of a table.
    pub(crate) fn backup_arn(&self, table: &str) -> String {
        format!("{}/backup/{}", table_arn(&self.region, table), self.new_exchange_id())
    }
}

/// Pins a moment just returned by [`crate::history::tick`], and returns the write that stores the backup.
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
