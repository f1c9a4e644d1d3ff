//! The catalog of tables, streams and histories: their stored records ([`catalog_rows`]), and maps of them in memory.
//!
//! Reads take the current map without a lock. Changes are decisions like any write ([`change_table`]), and the map is replaced
//! between the commit and the next decision.

pub mod catalog_repair;
pub mod catalog_rows;
pub mod change_table;
pub mod spaces;
pub mod table;

use crate::catalog::catalog_rows::CatalogRows;
use crate::catalog::spaces::Spaces;
use crate::catalog::table::{Table, TableRecord};
use crate::history::History;
use crate::history::change_history::source_not_found;
use crate::key::stored_key::{self, Key};
use crate::stream::Stream;
use arc_swap::ArcSwap;
use partita_api::{Exception, messages};
use partita_store::{KeyRange, Space, Store, StoreError, Write};
use partita_value::names::{StreamName, TableName};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Tables = BTreeMap<String, Arc<Table>>;
type Streams = BTreeMap<StreamName, Arc<Stream>>;
type Histories = BTreeMap<Space, Arc<History>>;

/// All tables, streams and histories.
#[derive(Clone)]
pub struct Catalog {
    tables: Arc<ArcSwap<Tables>>,
    /// Including streams that are disabled or whose tables are deleted.
    streams: Arc<ArcSwap<Streams>>,
    /// By their own spaces; including those of deleted tables.
    histories: Arc<ArcSwap<Histories>>,
    /// The keys of rows that could not be read at startup.
    lost: Arc<Vec<KeyRange>>,
    /// The keys of rows to be rewritten, because one of their copies is missing or different.
    incomplete: Arc<Mutex<BTreeSet<Vec<u8>>>>,
    /// New spaces are allocated from this number on. Computed from the rows if the stored number is lost.
    first_free_space: u32,
}

impl Catalog {
    /// Reads all records. Those that cannot be read are kept as keys in `lost`.
    pub fn load(store: &impl Store) -> Result<Catalog, StoreError> {
        let snapshot = store.snapshot()?;
        let stored = CatalogRows::read(&snapshot)?;
        for damage in &stored.damages {
            tracing::error!(%damage, "a row of the catalog is damaged");
        }
        let tables = stored
            .records(stored_key::all_table_records())
            .map(|record: TableRecord| (record.name.clone(), Arc::new(Table::new(record))));
        let streams =
            stored.records(stored_key::all_streams()).map(|stream: Stream| (stream.name(), Arc::new(stream)));
        let histories = stored
            .records(stored_key::all_histories())
            .map(|history: History| (history.space(), Arc::new(history)));
        let mut catalog = Catalog {
            tables: Arc::new(ArcSwap::from_pointee(tables.collect())),
            streams: Arc::new(ArcSwap::from_pointee(streams.collect())),
            histories: Arc::new(ArcSwap::from_pointee(histories.collect())),
            lost: Arc::new(stored.lost),
            incomplete: Arc::new(Mutex::new(stored.incomplete)),
            first_free_space: 0,
        };
        catalog.first_free_space = match stored.rows.get(&Key::NextSpace.to_bytes()) {
            Some(row) => Spaces::after(Some(row)).take(),
            None => catalog_repair::next_space(&snapshot, catalog.owned_spaces())?,
        };
        catalog.lock().extend(catalog.lost_next_space());
        Ok(catalog)
    }

    fn lost_next_space(&self) -> Option<Vec<u8>> {
        let key = Key::NextSpace.to_bytes();
        self.is_lost(&key).then_some(key)
    }

    fn owned_spaces(&self) -> impl Iterator<Item = u32> {
        let (tables, streams, histories) = (self.all(), self.streams(), self.histories());
        let of_tables: Vec<_> =
            tables.values().flat_map(|table| [vec![table.space], table.side_spaces()].concat()).collect();
        let of_streams = streams.values().map(|stream| stream.space());
        let of_histories = histories.values().flat_map(|history| [history.space(), history.items()]);
        let all: Vec<_> = of_streams.chain(of_histories).chain(of_tables).map(|space| space.0).collect();
        all.into_iter()
    }

    /// The free spaces, given the stored row with the number of the next one.
    pub fn spaces(&self, row: Option<&[u8]>) -> Spaces {
        Spaces::after(row).at_least(self.first_free_space)
    }

    /// The keys of some rows with one copy missing or different.
    pub fn incomplete(&self, count: usize) -> Vec<Vec<u8>> {
        self.lock().iter().take(count).cloned().collect()
    }

    /// Called when these rows were rewritten.
    pub fn completed(&self, keys: &[Vec<u8>]) {
        let mut incomplete = self.lock();
        keys.iter().for_each(|key| {
            incomplete.remove(key);
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Vec<u8>>> {
        self.incomplete.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there may be a row with this key that cannot be read.
    fn is_lost(&self, key: &[u8]) -> bool {
        self.lost.iter().any(|range| range.contains(key))
    }

    /// The names of tables whose records cannot be read.
    pub fn lost_tables(&self) -> impl Iterator<Item = &str> {
        let rows = self.lost.iter().filter_map(KeyRange::row).filter_map(stored_key::table_of_record);
        rows.filter(|name| self.find(name).is_none())
    }

    pub fn find(&self, name: &str) -> Option<Arc<Table>> {
        self.tables.load().get(name).cloned()
    }

    /// The table of an item operation. A table that is still being imported or restored counts as not found.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        let found = self.find(name.as_str()).filter(|table| !table.record.is_being_created());
        found.ok_or_else(|| self.no_table(name, Exception::resource_not_found(messages::TABLE_NOT_FOUND)))
    }

    /// The table of a table operation, whose exception names the table.
    pub fn named_table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        let missing = || Exception::resource_not_found(messages::table_not_found(name));
        self.find(name.as_str()).ok_or_else(|| self.no_table(name, missing()))
    }

    /// Fails if the record of a table with this name may be lost: then the name may not be free.
    pub fn refuse_lost(&self, name: &TableName) -> Result<(), Exception> {
        let is_lost = self.is_lost(&Key::TableRecord { name: name.as_str() }.to_bytes());
        if is_lost && self.find(name.as_str()).is_none() { Err(lost_table(name)) } else { Ok(()) }
    }

    /// The exception for a table that was not found: `missing`, unless its record is lost.
    #[cold]
    fn no_table(&self, name: &TableName, missing: Exception) -> Exception {
        self.refuse_lost(name).err().unwrap_or(missing)
    }

    /// The table of a backup, restore or export, which have an exception of their own.
    pub fn source_table(&self, name: &TableName) -> Result<Arc<Table>, Exception> {
        let found = self.find(name.as_str()).filter(|table| !table.record.is_being_created());
        found.ok_or_else(|| self.no_table(name, source_not_found(name)))
    }

    /// The current state of a table; `None` if it was deleted, even if another has its name.
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

/// The exception for a table whose record cannot be read.
pub fn lost_table(name: &TableName) -> Exception {
    Exception::internal(format!(
        "Internal server error: the record of table {name} is damaged and so is its second copy, so its items cannot be read. Restore a backup of it into a new table; partita verify --repair frees the name and the disk space"
    ))
}

/// The exception for a write that must be recorded in a stream or history whose record cannot be read.
pub fn lost_stream_or_history(table: &TableName, what: &str, remedy: &str) -> Exception {
    tracing::error!(%table, "the record of the table's {what} is damaged");
    Exception::internal(format!(
        "Internal server error: the record of the {what} of table {table} is damaged and so is its second copy, so that no change can be recorded in it. {remedy}"
    ))
}

/// The writes that store the record of a table.
pub fn store_record(record: &TableRecord) -> [Write; 2] {
    catalog_rows::put_record(Key::TableRecord { name: &record.name }, record)
}
