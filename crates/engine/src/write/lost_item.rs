//! Items that cannot be read any more because their rows are damaged: they can be overwritten and deleted all the same.
//!
//! Nobody knows what such an item was, so its entries in indexes and in the order of expiry cannot be computed. They are
//! looked for: every entry's key ends with the identity of its item. The decision that replaces the item removes them, and
//! tells the stream without an old image and the history that nobody knows what there was. How many bytes the item had
//! stays in the table's total until `partita verify --repair` counts anew.

use crate::Engine;
use crate::catalog::table::Table;
use crate::key::item_key::key_item;
use crate::key::stored_key::{self, Key};
use crate::read::slices::let_others;
use crate::storage_failed;
use crate::verify::{hex, shown_key};
use crate::write::write_batch::Batch;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::reporting::ReturnValues;
use partita_store::{Counters, Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError};
use partita_value::{Item, ItemRef};
use std::ops::ControlFlow;

/// Rows looked through between two pauses.
const PAGE_ROWS: usize = 4_096;

/// What is known of an item that cannot be read.
pub struct LostItem {
    pub keys: Item,
    entries: Vec<LostEntry>,
}

/// An entry that stands for it.
struct LostEntry {
    space: Space,
    key: Vec<u8>,
    size: usize,
}

impl LostItem {
    /// Removes its entries, and that it is counted as an item. Its row is the write's own.
    pub fn clear(&self, batch: &mut Batch<'_>, table: &Table, write: &ItemWrite) {
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

impl<S: Store> Engine<S> {
    /// What is known of the item that a write replaces without looking at it. Other writes depend on what it was.
    pub(crate) async fn lost_item(&self, write: &ItemWrite) -> Result<LostItem, Exception> {
        let keys = match &write.action {
            Action::Put(item) | Action::Restore(item) => key_item(write.table.key.attributes(), item.view()),
            Action::Delete { key } | Action::Expire { key, .. } => key.clone(),
            Action::Update { .. } | Action::Check => return Err(unreadable_item()),
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
                let_others().await;
            }
        }
        tracing::warn!(table = %write.table.name, entries = entries.len(), "an unreadable item is replaced");
        Ok(LostItem { keys, entries })
    }

    /// Looks through a page of a space; says where the next one begins.
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
            next = Some(stored_key::just_behind(key));
            ControlFlow::Break(())
        };
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        // Of a damaged entry it is not known whose it is.
        let damaged = |_: Damage| ControlFlow::Continue(());
        snapshot.range_past_damage(range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
        Ok(next)
    }
}

/// What somebody is told who needs to know what a damaged item is.
pub fn unreadable_item() -> Exception {
    Exception::internal(
        "Internal server error: the item is damaged and cannot be read. A PutItem or DeleteItem without a condition replaces it; partita verify lists all that is damaged",
    )
}

/// The failure of a read of one item.
pub fn item_read_failed(error: StoreError) -> Exception {
    match error {
        StoreError::Damaged(damage) => {
            tracing::error!(%damage, "an item is damaged");
            unreadable_item()
        }
        error => storage_failed(error),
    }
}

/// The failure of a read of several rows.
pub fn damaged_rows(told: &str) -> Exception {
    Exception::internal(format!(
        "Internal server error: rows are damaged and cannot be read: {told}. partita verify lists all that is damaged"
    ))
}

/// Which rows of a table or index cannot be read, by the items next to them, and why.
pub fn told_damage(store: &impl Store, table: &Table, damage: Damage) -> String {
    let Damage { keys, reason } = damage;
    let told = match keys {
        None => format!("table {}: {reason}", table.name),
        Some(keys) => {
            let neighbour = |direction| neighbour(store, table, &keys, direction).unwrap_or_default();
            let (before, after) = (neighbour(Direction::Descending), neighbour(Direction::Ascending));
            let (from, to) = (hex(&keys.start), hex(&keys.end));
            format!(
                "table {}: behind {before} and before {after}, stored keys {from} to {to}: {reason}",
                table.name
            )
        }
    };
    tracing::error!(told, "rows are damaged");
    told
}

/// The item next to damaged keys, on one side of them.
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
