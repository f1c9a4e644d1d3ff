//! Backfills a new index, or the expiry order of a table, from the items that existed before it.
//!
//! From the moment it is published, every write keeps the index up to date. The backfill reads the table in pages: it takes
//! keys from a snapshot, then decides over the *current* items with these keys together with the entries they would have, and
//! adds the entries that are missing. An item that changed in between was indexed by that change. The cursor is stored with
//! each page.

use crate::Engine;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::{Table, TableRecord};
use crate::index::index_entry::{self, Entry};
use crate::key::item_key::ItemKey;
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use partita_api::Exception;
use partita_store::{Counters, Damage, Decision, Direction, KeyRange, Rows, Snapshot, Space, Store, Write};
use partita_value::{Item, ItemRef};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Items processed in one step.
const PAGE_ITEMS: usize = 256;
/// … or this many bytes of them.
const PAGE_BYTES: usize = 1 << 20;

impl<S: Store> Engine<S> {
    pub(crate) async fn backfill_step(&self) -> Result<Progress, Exception> {
        let mut progress = Progress::Done;
        for table in self.catalog.all().values() {
            if let Some(space) = backfilling_space(table) {
                let name = format!("backfill in table {}", table.name);
                progress = progress.or(self.backoffs.step(&name, self.fill_page(table, space)).await);
            }
        }
        Ok(progress)
    }

    async fn fill_page(&self, table: &Arc<Table>, space: Space) -> Result<Progress, Exception> {
        let page = self.next_page(table, space)?;
        let Some(last) = page.last().map(|item| ItemKey::of_stored_item(table, item.view()).stored) else {
            self.finish(table, space).await?;
            return Ok(Progress::More);
        };
        let mut keys = Vec::with_capacity(page.len() * 2);
        let mut expected = Vec::with_capacity(page.len());
        for item in &page {
            let key = ItemKey::of_stored_item(table, item.view());
            if let Some(entry) = entry_in(table, space, &key, item.view()) {
                keys.extend([key.stored.clone(), entry.key.clone()]);
                expected.push((key, entry.key));
            }
        }
        let (table, catalog) = (Arc::clone(table), self.catalog.clone());
        let decision = move |rows: &Rows<'_>, _: &[usize]| match catalog.current(&table) {
            Some(now) if backfilling_space(&now) == Some(space) => {
                let mut writes = missing_entries(&now, space, &expected, rows);
                let cursor = Key::BackfillCursor { of: space }.to_bytes();
                writes.push(Write::Put { key: cursor, value: last.clone() });
                Decision::commit(writes, ())
            }
            // The index or its table has since been deleted.
            _ => Decision::rejection(()),
        };
        // An entry that cannot be read is rewritten.
        self.store.decide_over_damage(keys, decision).await.map_err(storage_failed)?;
        Ok(Progress::More)
    }

    /// The next items after the cursor. An item that cannot be read gets its entry when it is overwritten.
    fn next_page(&self, table: &Table, space: Space) -> Result<Vec<Item>, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let cursor = snapshot.get(&Key::BackfillCursor { of: space }.to_bytes()).map_err(storage_failed)?;
        let mut range: KeyRange = stored_key::segment(table.space, 0, 1);
        if let Some(last) = cursor {
            range.start = [&last, &[0][..]].concat();
        }
        let (mut page, mut bytes) = (Vec::new(), 0);
        let visit = |_: &[u8], row: &[u8]| {
            page.extend(ItemRef::new(row).map(|item| item.to_owned()));
            bytes += row.len();
            if page.len() < PAGE_ITEMS && bytes < PAGE_BYTES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let damaged = |damage: Damage| {
            tracing::error!(table = %table.name, %damage, "a backfill skips damaged rows");
            ControlFlow::Continue(())
        };
        snapshot.range_past_damage(&range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
        Ok(page)
    }

    async fn finish(&self, table: &Table, space: Space) -> Result<(), Exception> {
        let change = move |record: &mut TableRecord, _: &mut _| {
            for index in &mut record.global_indexes {
                index.backfilling &= Space(index.space) != space;
            }
            if let Some(ttl) = &mut record.time_to_live {
                ttl.backfilling &= Space(ttl.space) != space;
            }
            Ok(SideWrites::of(vec![Write::Delete { key: Key::BackfillCursor { of: space }.to_bytes() }]))
        };
        self.change_table(&table.name, change).await?;
        Ok(())
    }
}

/// The space that is still being backfilled, if there is one.
fn backfilling_space(table: &Table) -> Option<Space> {
    let index = table.indexes.iter().find(|index| index.backfilling).map(|index| index.space);
    index.or_else(|| table.expiry.as_ref().filter(|expiry| expiry.backfilling).map(|expiry| expiry.space))
}

/// The entry of an item in the index or expiry order with this space; none if it cannot have one.
pub fn entry_in<'a>(table: &Table, space: Space, key: &ItemKey, item: ItemRef<'a>) -> Option<Entry<'a>> {
    if let Some(index) = table.indexes.iter().find(|index| index.space == space) {
        return index_entry::in_index(index, key, item).ok().flatten();
    }
    let expiry = table.expiry.as_ref().filter(|expiry| expiry.space == space)?;
    index_entry::in_expiry(expiry, table, key, item)
}

/// The writes of missing entries. Rows come in pairs: the item, and the entry it was expected to have.
fn missing_entries(
    table: &Table,
    space: Space,
    expected: &[(ItemKey, Vec<u8>)],
    rows: &Rows<'_>,
) -> Vec<Write> {
    let mut writes = Vec::with_capacity(expected.len() + 2);
    let mut added = Counters::default();
    for ((key, expected_key), pair) in expected.iter().zip(rows.chunks_exact(2)) {
        let Some(item) = pair[0].as_deref().and_then(ItemRef::new) else { continue };
        let Some(entry) = entry_in(table, space, key, item) else { continue };
        if entry.key == *expected_key && pair[1].is_none() {
            added += Counters { rows: 1, bytes: entry.size as i64 };
            writes.push(Write::Put { key: entry.key, value: entry.value.into_owned() });
        }
    }
    if added.rows > 0 {
        writes.push(Write::Count { key: Key::Counters { of: space }.to_bytes(), add: added });
    }
    writes
}
