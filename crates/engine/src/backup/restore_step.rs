//! Advances restores in the background, in turn. A step reads a batch of the past and puts its items; its progress commits with
//! them. The table becomes active after the last batch.

use crate::Engine;
use crate::catalog::change_table::SideWrites;
use crate::catalog::spaces::Spaces;
use crate::catalog::table::TableRecord;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::change_history::HistoryChange;
use crate::history::past::Past;
use crate::history::{History, Moment};
use crate::key::item_key::ItemKey;
use crate::key::stored_key::ExchangeKind;
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::verify::hex;
use crate::write::{Action, ItemWrite};
use partita_api::{Exception, ExceptionKind};
use partita_store::{Space, Store, Write};
use partita_value::Item;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A batch ends after this many items,
const BATCH_ITEMS: usize = 256;
/// … or this many bytes of items,
const BATCH_BYTES: usize = 1 << 20;
/// … or this many examined keys.
const BATCH_KEYS: usize = 4_096;

/// The stored record of a restore. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RestoreRecord {
    pub id: String,
    pub table: String,
    pub table_arn: String,
    pub history: u32,
    pub moment: Moment,
    /// The last key of the source that was copied, without its space.
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

    /// The record is deleted when the restore is done.
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

/// What a step has read, and the last key.
#[derive(Default)]
struct RestoreBatch {
    items: Vec<Item>,
    bytes: usize,
    keys: usize,
    last: Option<Vec<u8>>,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn restore_step(&self) -> Result<Progress, Exception> {
        let Some((record, _guard)) = self.due_exchange::<RestoreRecord>(&self.open_restores)? else {
            return Ok(Progress::Done);
        };
        let id = record.id.clone();
        let step = self.advance_restore(record).await;
        Ok(self.backoffs.record(&id, step))
    }

    async fn advance_restore(&self, mut record: RestoreRecord) -> Result<Progress, Exception> {
        let batch = self.read_past(&record)?;
        match batch.last {
            None => self.finish_restore(record).await?,
            Some(last) => {
                record.cursor = Some(last);
                self.put_restored(record, batch.items).await?;
            }
        }
        Ok(Progress::More)
    }

    fn read_past(&self, record: &RestoreRecord) -> Result<RestoreBatch, Exception> {
        let history = self.catalog.history(Space(record.history));
        let history = history.ok_or_else(|| Exception::internal("the history of a restore is missing"))?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let mut batch = RestoreBatch::default();
        let past = Past::of(&snapshot, &history);
        past.items_at(record.moment, record.cursor.as_deref(), |key, item| {
            batch.bytes += item.map_or(0, |item| item.bytes().len());
            batch.items.extend(item.map(|item| item.to_owned()));
            batch.keys += 1;
            batch.last = Some(key.to_vec());
            let has_capacity =
                batch.items.len() < BATCH_ITEMS && batch.bytes < BATCH_BYTES && batch.keys < BATCH_KEYS;
            if has_capacity { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for damage in past.lost() {
            let keys = damage.keys.as_ref().map(|keys| hex(&keys.start));
            tracing::error!(table = record.table, keys, %damage, "an item could not be restored");
        }
        Ok(batch)
    }

    /// Puts the items, and commits the restore's cursor with them.
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
        let outcomes = self.write_each_with(writes, move |_| vec![record.store()]).await?;
        outcomes.into_iter().try_for_each(|outcome| outcome.map(|_| ()))
    }

    /// Activates the table and ends the restore in one commit.
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
            let writes: Vec<Write> = vec![record.delete()];
            Ok(SideWrites { writes, history, ..SideWrites::default() })
        };
        self.change_table(&name, change).await?;
        self.open_restores.remove(&id);
        Ok(())
    }
}
