//! Restores in the background. A step reads a page of the past and puts its items, and with them how far it came. When the
//! last is done, the table is there.

use crate::Engine;
use crate::backup::restored_table::NewTable;
use crate::catalog::change_table::{SideWrites, read_record};
use crate::catalog::table::{Table, TableRecord};
use crate::catalog::{Catalog, store_record};
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::change_history::HistoryChange;
use crate::history::past::Past;
use crate::history::{History, Moment, Pin};
use crate::key::item_key::ItemKey;
use crate::key::stored_key::ExchangeKind;
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::table::create_table::Spaces;
use crate::table::describe_table::describe;
use crate::verify::hex;
use crate::write::{Action, ItemWrite};
use partita_api::backup::restore_table_from_backup::RestoreTableFromBackupOutput;
use partita_api::table::RestoreSummary;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Counters, Decision, Space, Store, Write};
use partita_value::Item;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Items put in one step.
const PAGE_ITEMS: usize = 256;
/// … or this many bytes of them.
const PAGE_BYTES: usize = 1 << 20;
/// … or so many keys looked at.
const PAGE_KEYS: usize = 4_096;

/// A restore as it is stored. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RestoreRecord {
    pub id: String,
    pub table: String,
    pub table_arn: String,
    pub history: u32,
    pub moment: Moment,
    /// The last key of the source, without its space, that is in the new table.
    pub cursor: Option<Vec<u8>>,
}

impl ExchangeRecord for RestoreRecord {
    const KIND: ExchangeKind = ExchangeKind::Restore;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ResourceNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::TableInUseException;
    type Progress = ();

    fn arn(&self) -> &str {
        &self.id
    }

    fn table_arn(&self) -> &str {
        &self.table_arn
    }

    /// It is forgotten when it is done.
    fn is_open(&self) -> bool {
        true
    }

    fn ended_millis(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<()> {
        None
    }

    fn resume(&mut self, (): ()) {}
}

/// What a restore begins with, whatever it restores.
#[derive(Clone)]
pub struct NewRestore {
    pub id: String,
    pub table: NewTable,
    pub table_arn: String,
}

impl NewRestore {
    /// The decision that makes the table and notes the restore. The history has what it reads pinned already.
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
        let mut writes = [store_record(&record), spaces.remember()].concat();
        writes.push(restore.store());
        writes.extend(history.writes());
        let (published, catalog) = (record.clone(), catalog.clone());
        let on_commit = Box::new(move || {
            history.publish(&catalog);
            catalog.publish(published);
        });
        Ok(Decision { writes, answer: Ok(record), on_commit: Some(on_commit) })
    }

    /// Keeps what is read until the end.
    pub fn pin(&self, moment: Moment, backup: Option<String>) -> Pin {
        Pin { holder: self.id.clone(), moment, backup, expires_millis: None }
    }

    /// The target's name is taken.
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

/// What a step has read.
#[derive(Default)]
struct Page {
    items: Vec<Item>,
    bytes: usize,
    keys: usize,
    last: Option<Vec<u8>>,
}

impl<S: Store> Engine<S> {
    /// Tells of a restore that has begun.
    pub(crate) fn restore_begun(
        &self,
        restore: &NewRestore,
        record: TableRecord,
    ) -> Result<RestoreTableFromBackupOutput, Exception> {
        self.open_restores.add(&restore.id);
        self.wake_maintenance();
        let table =
            describe(
                &Table::new(record),
                &self.region,
                self.clock.now_millis(),
                |_| Ok(Counters::default()),
            )?;
        Ok(RestoreTableFromBackupOutput { table })
    }

    pub(crate) async fn restore_step(&self) -> Result<Progress, Exception> {
        let Some((record, _turn)) = self.due_exchange::<RestoreRecord>(&self.open_restores)? else {
            return Ok(Progress::Done);
        };
        let id = record.id.clone();
        let step = self.advance_restore(record).await;
        Ok(self.pauses.judge(&id, step))
    }

    async fn advance_restore(&self, mut record: RestoreRecord) -> Result<Progress, Exception> {
        let page = self.read_past(&record)?;
        match page.last {
            None => self.finish_restore(record).await?,
            Some(last) => {
                record.cursor = Some(last);
                self.put_restored(record, page.items).await?;
            }
        }
        Ok(Progress::More)
    }

    fn read_past(&self, record: &RestoreRecord) -> Result<Page, Exception> {
        let history = self.catalog.history(Space(record.history));
        let history = history.ok_or_else(|| Exception::internal("the history of a restore is missing"))?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let mut page = Page::default();
        let past = Past::of(&snapshot, &history);
        past.items_at(record.moment, record.cursor.as_deref(), |key, item| {
            page.bytes += item.map_or(0, |item| item.bytes().len());
            page.items.extend(item.map(|item| item.to_owned()));
            page.keys += 1;
            page.last = Some(key.to_vec());
            let has_room = page.items.len() < PAGE_ITEMS && page.bytes < PAGE_BYTES && page.keys < PAGE_KEYS;
            if has_room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for damage in past.lost() {
            let keys = damage.keys.as_ref().map(|keys| hex(&keys.start));
            tracing::error!(table = record.table, keys, %damage, "an item could not be restored");
        }
        Ok(page)
    }

    /// How far it came commits with the items.
    async fn put_restored(&self, record: RestoreRecord, items: Vec<Item>) -> Result<(), Exception> {
        let table = self.catalog.find(&record.table);
        let table = table.ok_or_else(|| Exception::internal("the table of a restore is missing"))?;
        let write = |item: Item| ItemWrite {
            table: Arc::clone(&table),
            key: ItemKey::of_stored_item(&table, item.view()),
            action: Action::Restore(item),
            condition: None,
            return_values: Default::default(),
            return_item_on_condition_failure: false,
        };
        let writes = items.into_iter().map(write).collect();
        let outcomes = self.write_each_noting(writes, move |_| vec![record.store()]).await?;
        outcomes.into_iter().try_for_each(|outcome| outcome.map(|_| ()))
    }

    /// The table's readiness is stored together with the end of the restore.
    async fn finish_restore(&self, record: RestoreRecord) -> Result<(), Exception> {
        let (name, id) = (TableName::new(&record.table), record.id.clone());
        let catalog = self.catalog.clone();
        let change = move |table: &mut TableRecord, _: &mut Spaces| {
            table.restored.iter_mut().for_each(|restore| restore.in_progress = false);
            let history = catalog.history(Space(record.history)).map(|history| {
                let mut history = History::clone(&history);
                history.unpin(&record.id);
                HistoryChange::of(history)
            });
            let writes: Vec<Write> = vec![record.forget()];
            Ok(SideWrites { writes, history, ..SideWrites::default() })
        };
        self.change_table(&name, change).await?;
        self.open_restores.remove(&id);
        Ok(())
    }
}
