//! A backup as it is stored: what its table was, and the moment in the table's history.

use crate::Engine;
use crate::catalog::table::{Table, TableRecord};
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::Moment;
use crate::key::stored_key::ExchangeKind;
use crate::table::describe_table::describe;
use partita_api::backup::{BackupDescription, BackupDetails, BackupSummary};
use partita_api::{Exception, ExceptionKind};
use partita_store::{Counters, Space, Store};
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};

/// Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupRecord {
    pub details: BackupDetails,
    pub table: TableRecord,
    pub items: u64,
    /// The space of the history that its items are read from.
    pub history: u32,
    pub moment: Moment,
}

impl ExchangeRecord for BackupRecord {
    const KIND: ExchangeKind = ExchangeKind::Backup;
    const NOT_FOUND: ExceptionKind = ExceptionKind::BackupNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::BackupInUseException;
    type Progress = ();

    fn arn(&self) -> &str {
        &self.details.arn
    }

    fn table_arn(&self) -> &str {
        let arn = self.arn();
        arn.split_once("/backup/").map_or(arn, |(table, _)| table)
    }

    fn is_open(&self) -> bool {
        false
    }

    fn ended_millis(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<()> {
        None
    }

    fn resume(&mut self, (): ()) {}
}

impl BackupRecord {
    pub fn history(&self) -> Space {
        Space(self.history)
    }

    pub fn summary(self) -> BackupSummary {
        BackupSummary {
            table_arn: self.table_arn().to_owned(),
            details: self.details,
            table_name: TableName::new(&self.table.name),
            table_id: self.table.id,
        }
    }
}

impl<S: Store> Engine<S> {
    pub(crate) fn describe_backup_record(
        &self,
        record: BackupRecord,
    ) -> Result<BackupDescription, Exception> {
        let table = Table::new(record.table);
        let total = Counters { rows: record.items as i64, bytes: record.details.size_bytes as i64 };
        let counters = |space: Space| Ok(if space == table.space { total } else { Counters::default() });
        Ok(BackupDescription {
            details: record.details,
            table: Box::new(describe(&table, &self.region, self.clock.now_millis(), counters)?),
            time_to_live: table.expiry.as_ref().map(|expiry| expiry.attribute.clone()),
        })
    }
}
