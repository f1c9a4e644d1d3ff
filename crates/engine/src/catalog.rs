//! The tables, streams and histories there are. Reads take the current map without a lock; changes are decisions like any
//! write, and the map is replaced between the commit and the next decision.

use crate::change_history::source_not_found;
use crate::history::History;
use crate::stored_key::{self, Key};
use crate::stream::Stream;
use crate::table::{Table, TableRecord};
use arc_swap::ArcSwap;
use partita_api::{Exception, messages};
use partita_store::{Direction, KeyRange, Snapshot, Space, Store, StoreError, Write};
use partita_value::names::{StreamName, TableName};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

type Tables = BTreeMap<String, Arc<Table>>;
type Streams = BTreeMap<StreamName, Arc<Stream>>;
type Histories = BTreeMap<Space, Arc<History>>;

#[derive(Clone)]
pub struct Catalog {
    tables: Arc<ArcSwap<Tables>>,
    /// Also those that are disabled, or whose tables are deleted.
    streams: Arc<ArcSwap<Streams>>,
    /// By their own spaces; also those of deleted tables.
    histories: Arc<ArcSwap<Histories>>,
}

impl Catalog {
    /// Reads all records.
    pub fn load(store: &impl Store) -> Result<Catalog, StoreError> {
        let tables = load_rows(store, &stored_key::all_table_records(), |record: TableRecord| {
            (record.name.clone(), Arc::new(Table::new(record)))
        })?;
        let streams =
            load_rows(store, &stored_key::all_streams(), |stream: Stream| (stream.name(), Arc::new(stream)))?;
        let histories = load_rows(store, &stored_key::all_histories(), |history: History| {
            (history.space(), Arc::new(history))
        })?;
        Ok(Catalog {
            tables: Arc::new(ArcSwap::from_pointee(tables)),
            streams: Arc::new(ArcSwap::from_pointee(streams)),
            histories: Arc::new(ArcSwap::from_pointee(histories)),
        })
    }

    pub fn find(&self, name: &str) -> Option<Arc<Table>> {
        self.tables.load().get(name).cloned()
    }

    /// The table an item operation names. One that is being imported or restored has no items yet.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        let found = self.find(name.as_str()).filter(|table| !table.record.is_being_made());
        found.ok_or_else(|| Exception::resource_not_found(messages::TABLE_NOT_FOUND))
    }

    /// The table a table operation names: its error names it too.
    pub fn named_table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        self.find(name.as_str()).ok_or_else(|| Exception::resource_not_found(messages::table_not_found(name)))
    }

    /// The table that a backup, a restore or an export names: they have an exception of their own.
    pub fn source_table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        self.table(name).map_err(|_| source_not_found(name))
    }

    /// The same table as it is now; `None` if it was deleted, even if another has its name.
    pub fn current(&self, table: &Table) -> Option<Arc<Table>> {
        self.find(table.name.as_str()).filter(|now| now.record.id == table.record.id)
    }

    pub fn all(&self) -> Arc<Tables> {
        self.tables.load_full()
    }

    pub fn stream(&self, name: &StreamName) -> Option<Arc<Stream>> {
        self.streams.load().get(name).cloned()
    }

    pub fn streams(&self) -> Arc<Streams> {
        self.streams.load_full()
    }

    /// Replaces a stream in the map. Called between a commit and the next decision only.
    pub fn publish_stream(&self, stream: Stream) {
        let stream = Arc::new(stream);
        self.streams.rcu(|streams| {
            let mut streams = Streams::clone(streams);
            streams.insert(stream.name(), Arc::clone(&stream));
            streams
        });
    }

    pub fn forget_stream(&self, name: &StreamName) {
        self.streams.rcu(|streams| {
            let mut streams = Streams::clone(streams);
            streams.remove(name);
            streams
        });
    }

    pub fn history(&self, space: Space) -> Option<Arc<History>> {
        self.histories.load().get(&space).cloned()
    }

    pub fn histories(&self) -> Arc<Histories> {
        self.histories.load_full()
    }

    /// Replaces a history in the map. Called between a commit and the next decision only.
    pub fn publish_history(&self, history: History) {
        let history = Arc::new(history);
        self.histories.rcu(|histories| {
            let mut histories = Histories::clone(histories);
            histories.insert(history.space(), Arc::clone(&history));
            histories
        });
    }

    pub fn forget_history(&self, space: Space) {
        self.histories.rcu(|histories| {
            let mut histories = Histories::clone(histories);
            histories.remove(&space);
            histories
        });
    }

    /// Replaces a table in the map. Called between a commit and the next decision only.
    pub fn publish(&self, record: TableRecord) {
        let table = Arc::new(Table::new(record));
        self.tables.rcu(|tables| {
            let mut tables = Tables::clone(tables);
            tables.insert(table.name.to_string(), Arc::clone(&table));
            tables
        });
    }

    pub fn forget(&self, name: &str) {
        self.tables.rcu(|tables| {
            let mut tables = Tables::clone(tables);
            tables.remove(name);
            tables
        });
    }
}

/// Reads a map from rows of JSON.
fn load_rows<R: DeserializeOwned, K: Ord, V>(
    store: &impl Store,
    range: &KeyRange,
    entry: impl Fn(R) -> (K, V),
) -> Result<BTreeMap<K, V>, StoreError> {
    let mut entries = BTreeMap::new();
    let mut damaged = None;
    store.snapshot()?.range(range, Direction::Ascending, |_, row| match serde_json::from_slice(row) {
        Ok(record) => {
            entries.extend([entry(record)]);
            ControlFlow::Continue(())
        }
        Err(error) => {
            damaged = Some(StoreError::damaged(format!("a record of the catalog: {error}")));
            ControlFlow::Break(())
        }
    })?;
    damaged.map_or(Ok(entries), Err)
}

/// The write that stores a record.
pub fn store_record(record: &TableRecord) -> Write {
    let value = serde_json::to_vec(record).unwrap_or_else(|_| unreachable!("a record is plain data"));
    Write::Put { key: Key::TableRecord { name: &record.name }.to_bytes(), value }
}
