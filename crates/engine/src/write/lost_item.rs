//! Items that cannot be read because their rows are damaged. They can still be overwritten and deleted.
//!
//! What such an item was is unknown, so its entries in indexes and in the expiry order cannot be computed. They are searched
//! for: the key of every entry ends with the identity of its item. The decision that replaces the item removes them, writes a
//! stream record without an old image, and marks the item's past as unknown in the history. The bytes of the item stay in the
//! table's total until `partita verify --repair` recounts it.

use crate::Engine;
use crate::catalog::table::Table;
use crate::key::item_key::key_item;
use crate::key::stored_key::{self, Key};
use crate::read::work_budget::yield_now;
use crate::storage_failed;
use crate::verify::{hex, shown_key};
use crate::write::row_batch::RowBatch;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::reporting::ReturnValues;
use partita_store::{Counters, Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError};
use partita_value::{Item, ItemRef};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows searched before the task yields.
const PAGE_ROWS: usize = 4_096;

/// What is known about an item that cannot be read.
pub struct LostItem {
    pub keys: Item,
    entries: Vec<LostEntry>,
}

/// An entry of a lost item.
struct LostEntry {
    space: Space,
    key: Vec<u8>,
    size: usize,
}

impl LostItem {
    /// Removes its entries, and subtracts it from the counters. The write itself replaces its row.
    pub fn clear(&self, batch: &mut RowBatch<'_>, table: &Table, write: &ItemWrite) {
        let spaces = table.side_spaces();
        for entry in self.entries.iter().filter(|entry| spaces.contains(&entry.space)) {
            batch.count_in(entry.space, Some(entry.size), None);
            batch.delete(entry.key.clone());
        }
        let gone = Counters { rows: -1, bytes: 0 };
        batch.count(Key::Counters { of: table.space }.to_bytes(), gone);
        if let Some(space) = table.collections {
            batch.count(Key::Collection { space, token: write.key.partition }.to_bytes(), gone);
        }
    }
}

/// Lost items by their stored keys.
pub type LostItems = BTreeMap<Vec<u8>, Arc<LostItem>>;

/// The keys of rows that cannot be read, and what is known about the items among them.
#[derive(Default)]
pub struct UnreadableRows<'a> {
    pub keys: Vec<Vec<u8>>,
    known: Option<&'a LostItems>,
}

impl<'a> UnreadableRows<'a> {
    /// The unreadable rows at these positions of `keys`.
    pub fn at(positions: &[usize], keys: &[Vec<u8>], known: &'a LostItems) -> UnreadableRows<'a> {
        let keys = positions.iter().filter_map(|position| keys.get(*position)).cloned().collect();
        UnreadableRows { keys, known: Some(known) }
    }

    pub fn lost(&self, key: &[u8]) -> Option<&'a LostItem> {
        let is_unreadable = self.keys.iter().any(|unreadable| unreadable == key);
        self.known.filter(|_| is_unreadable).and_then(|known| known.get(key)).map(AsRef::as_ref)
    }
}

impl<S: Store> Engine<S> {
    /// Collects what is known about the unreadable item that a write replaces. Fails if the write depends on what the item was.
    pub(crate) async fn lost_item(&self, write: &ItemWrite) -> Result<LostItem, Exception> {
        let keys = match &write.action {
            Action::Put(item) | Action::Restore(item) => key_item(write.table.key.attributes(), item.view()),
            Action::Delete { key } | Action::Expire { key, .. } => key.clone(),
            Action::Update { .. } | Action::Check { .. } => return Err(unreadable_item()),
        };
        if write.condition.is_some() || write.return_values != ReturnValues::None {
            return Err(unreadable_item());
        }
        let mut entries = Vec::new();
        let table = self.catalog.current(&write.table);
        let spaces = table.iter().flat_map(|table| table.side_spaces());
        for space in spaces.filter(|space| write.table.collections != Some(*space)) {
            let mut range = stored_key::all_rows(space);
            while let Some(next) = self.look_for_entries(space, &range, write, &mut entries)? {
                range.start = next;
                yield_now().await;
            }
        }
        tracing::warn!(table = %write.table.name, entries = entries.len(), "an unreadable item is replaced");
        Ok(LostItem { keys, entries })
    }

    /// Searches a page of a space; returns where the next page starts.
    fn look_for_entries(
        &self,
        space: Space,
        range: &KeyRange,
        write: &ItemWrite,
        entries: &mut Vec<LostEntry>,
    ) -> Result<Option<Vec<u8>>, Exception> {
        let (mut rows, mut next) = (0, None);
        let visit = |key: &[u8], row: &[u8]| {
            if stored_key::trailing_token(key) == Some(write.key.identity) {
                let size = ItemRef::new(row).map_or(0, |entry| entry.size());
                entries.push(LostEntry { space, key: key.to_vec(), size });
            }
            rows += 1;
            if rows < PAGE_ROWS {
                return ControlFlow::Continue(());
            }
            next = Some(stored_key::next_key_after(key));
            ControlFlow::Break(())
        };
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        // The item of a damaged entry is unknown.
        let damaged = |_: Damage| ControlFlow::Continue(());
        snapshot.range_past_damage(range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
        Ok(next)
    }
}

/// The exception for requests that need to read a damaged item.
pub fn unreadable_item() -> Exception {
    Exception::internal(
        "Internal server error: the item is damaged and cannot be read. A PutItem or DeleteItem without a condition replaces it; partita verify lists everything that is damaged",
    )
}

/// The exception for a failed read of one item.
pub fn item_read_failed(error: StoreError) -> Exception {
    match error {
        StoreError::Damaged(damage) => {
            tracing::error!(%damage, "an item is damaged");
            unreadable_item()
        }
        error => storage_failed(error),
    }
}

/// The exception for a failed read of several rows.
pub fn damaged_rows(rows: &str) -> Exception {
    Exception::internal(format!(
        "Internal server error: rows are damaged and cannot be read: {rows}. partita verify lists everything that is damaged"
    ))
}

/// Describes which rows of a table or index cannot be read, by the items next to them, and why.
pub fn describe_damage(store: &impl Store, table: &Table, damage: Damage) -> String {
    let Damage { keys, reason } = damage;
    let description = match keys {
        None => format!("table {}: {reason}", table.name),
        Some(keys) => {
            let neighbour = |direction| neighbour(store, table, &keys, direction).unwrap_or_default();
            let (before, after) = (neighbour(Direction::Descending), neighbour(Direction::Ascending));
            let (from, to) = (hex(&keys.start), hex(&keys.end));
            format!(
                "table {}: after {before} and before {after}, stored keys {from} to {to}: {reason}",
                table.name
            )
        }
    };
    tracing::error!(description, "rows are damaged");
    description
}

/// The item next to damaged keys, in one direction.
fn neighbour(
    store: &impl Store,
    table: &Table,
    keys: &KeyRange,
    direction: Direction,
) -> Result<String, StoreError> {
    let space = stored_key::all_rows(space_of(&keys.start));
    let (range, edge) = match direction {
        Direction::Ascending => (KeyRange { start: keys.end.clone(), end: space.end }, "the end"),
        Direction::Descending => (KeyRange { start: space.start, end: keys.start.clone() }, "the beginning"),
    };
    let mut found = None;
    let visit = |_: &[u8], row: &[u8]| {
        found = ItemRef::new(row).map(|item| format!("item {}", shown_key(table, item)));
        ControlFlow::Break(())
    };
    store.snapshot()?.range_past_damage(&range, direction, visit, |_| ControlFlow::Continue(()))?;
    Ok(found.unwrap_or_else(|| edge.to_owned()))
}

fn space_of(key: &[u8]) -> Space {
    Space(key.first_chunk::<4>().map_or(0, |space| u32::from_be_bytes(*space)))
}
