//! Starts a restore, from a backup or from a point in time: the decision that creates the table and stores the restore, which then
//! continues in the background (`restore_step.rs`).

use crate::Engine;
use crate::backup::restore_step::RestoreRecord;
use crate::backup::restored_table::NewTable;
use crate::catalog::change_table::read_record;
use crate::catalog::table::{Table, TableRecord};
use crate::catalog::{Catalog, store_record};
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::change_history::HistoryChange;
use crate::history::{History, Moment, Pin};
use crate::table::table_description::describe;
use partita_api::backup::restore::RestoreOverrides;
use partita_api::table::{RestoreSummary, TableDescription};
use partita_api::{Exception, ExceptionKind};
use partita_store::{Counters, Decision, Store};
use partita_value::names::{TableName, table_arn};

/// A restore that is about to start, from a backup or a point in time.
#[derive(Clone)]
pub struct NewRestore {
    pub id: String,
    pub table: NewTable,
    pub table_arn: String,
}

impl NewRestore {
    /// The decision that creates the table and stores the restore. The moment it reads is already pinned in `history`.
    pub fn begin(
        &self,
        source: &TableRecord,
        summary: RestoreSummary,
        (history, moment): (History, Moment),
        spaces_row: Option<&[u8]>,
        catalog: &Catalog,
    ) -> Result<Decision<Result<TableRecord, Exception>>, Exception> {
        let mut spaces = catalog.spaces(spaces_row);
        let record = self.table.record(source, summary, &mut spaces)?;
        let restore = RestoreRecord {
            id: self.id.clone(),
            table: record.name.clone(),
            table_arn: self.table_arn.clone(),
            history: history.space,
            moment,
            cursor: None,
        };
        let history = HistoryChange::of(history);
        let mut writes = [store_record(&record), spaces.store()].concat();
        writes.push(restore.store());
        writes.extend(history.writes());
        let (published, catalog) = (record.clone(), catalog.clone());
        let on_commit = Box::new(move || {
            history.publish(&catalog);
            catalog.publish(published);
        });
        Ok(Decision { writes, answer: Ok(record), on_commit: Some(on_commit) })
    }

    /// The pin that keeps the moment readable until the restore ends.
    pub fn pin(&self, moment: Moment, backup: Option<String>) -> Pin {
        Pin { holder: self.id.clone(), moment, backup, expires_millis: None }
    }

    /// The exception for a target name that is taken.
    pub fn taken(&self, row: &[u8]) -> Exception {
        let restored = read_record(row).and_then(|record| record.restored);
        let restoring = restored.filter(|restore| restore.in_progress);
        if let Some(backup) = restoring.and_then(|restore| restore.backup_arn) {
            let message =
                format!("Table: {} is already being restored from backup: {backup}", self.table.name);
            return Exception::new(ExceptionKind::TableInUseException, message);
        }
        let message = format!("Table already exists: {}", self.table.name);
        Exception::new(ExceptionKind::TableAlreadyExistsException, message)
    }
}

impl<S: Store> Engine<S> {
    pub(crate) fn new_restore(&self, target: TableName, overrides: RestoreOverrides) -> NewRestore {
        NewRestore {
            id: self.new_exchange_id(),
            table_arn: table_arn(&self.region, target.as_str()),
            table: NewTable { name: target, id: self.new_id(), now: self.clock.now_millis(), overrides },
        }
    }

    /// Queues a restore that has started, and describes its table.
    pub(crate) fn restore_started(
        &self,
        restore: &NewRestore,
        record: TableRecord,
    ) -> Result<TableDescription, Exception> {
        self.open_restores.add(&restore.id);
        self.wake_maintenance();
        let now = self.clock.now_millis();
        describe(&Table::new(record), &self.region, now, |_| Ok(Counters::default()))
    }
}
