//! What one write changes, by its draft (`write_draft.rs`): the item, its index entries, its expiry entry, the counters, the
//! stream's record, what its history remembers.

use crate::capacity::{Consumption, write_units};
use crate::catalog::table::{IndexKind, Table};
use crate::history::History;
use crate::index::index_entry;
use crate::key::stored_key::Key;
use crate::stream::Stream;
use crate::write::change::Change;
use crate::write::lost_item::LostItem;
use crate::write::write_batch::{Batch, difference, shard_of};
use crate::write::write_draft::{Draft, EntryDraft};
use crate::write::{ItemWrite, Outcome};
use partita_api::capacity::Units;
use partita_api::{Exception, ExceptionKind, messages};
use partita_store::{Counters, Space};
use partita_value::{ItemRef, limits};

/// What keeps track of a table's changes, and the time of a change.
#[derive(Clone, Copy)]
pub struct Recording<'a> {
    pub stream: Option<&'a Stream>,
    pub history: Option<&'a History>,
    pub now: u64,
}

/// What is stored of an item and of its collection.
pub struct Stored<'a> {
    pub old: Option<ItemRef<'a>>,
    pub collection: Counters,
    /// There is an item, but it cannot be read; the write does not depend on what it was.
    pub lost: Option<&'a LostItem>,
}

/// Decides one write by its draft: checks what is left to check, and adds the rows it changes to the batch.
pub fn plan(
    batch: &mut Batch<'_>,
    table: &Table,
    record: Recording<'_>,
    (write, draft): (&ItemWrite, Draft),
    Stored { old, collection, lost }: Stored<'_>,
) -> Result<Outcome, Exception> {
    let Draft { after, attributes, entries } = draft;
    let new = after.item(write, old);
    let (old_size, new_size) = (old.map(|item| item.size()), new.map(|item| item.size()));
    let size = old_size.unwrap_or(0).max(new_size.unwrap_or(0));
    let change = match lost {
        Some(lost) => Some(Change::Replace { keys: lost.keys.view(), new }),
        None => Change::between(old, new),
    };
    // Whatever can fail comes before the first row.
    let told = match (record.stream, &change) {
        (Some(stream), Some(_)) => Some((stream, shard_of(stream, write)?)),
        _ => None,
    };
    let added = collection_growth(table, (old_size, new_size), &entries);
    let mut outcome = Outcome {
        attributes,
        consumption: Consumption::of_table(write_units(size)),
        collection_bytes: grow_collection(batch, table, write, collection, added)?,
        written_bytes: change.as_ref().and(new_size).unwrap_or(0),
    };
    if let Some(lost) = lost {
        lost.clear(batch, table, write);
    }
    if let Some(change) = change {
        change_rows(batch, table, write, old, new);
        if let Some(told) = told {
            batch.tell(told, record.now, write, &change);
        }
        if let Some(history) = record.history {
            batch.remember(history, record.now, write, &change);
        }
        for (index, (before, after)) in table.indexes.iter().zip(entries) {
            let before = batch.stored(before, index.backfilling);
            let units = change_entry(batch, index.space, before, after.zip(new));
            if units != Units::ZERO {
                outcome.consumption.charge_index(&index.name, index.kind, units);
            }
        }
    }
    Ok(outcome)
}

/// Changes the item's row, its expiry entry and the table's counters.
fn change_rows(
    batch: &mut Batch<'_>,
    table: &Table,
    write: &ItemWrite,
    old: Option<ItemRef<'_>>,
    new: Option<ItemRef<'_>>,
) {
    match new {
        Some(item) => batch.put(write.key.stored.clone(), item.bytes().to_vec()),
        None => batch.delete(write.key.stored.clone()),
    }
    batch.count_in(table.space, old.map(|item| item.size()), new.map(|item| item.size()));
    if let Some(expiry) = &table.expiry {
        let entry = |item| index_entry::in_expiry(expiry, table, &write.key, item).map(EntryDraft::from);
        let before = batch.stored(old.and_then(entry), expiry.backfilling);
        change_entry(batch, expiry.space, before, new.and_then(entry).zip(new));
    }
}

/// Replaces one entry by another and its item, if they differ; returns what an index is charged for it.
fn change_entry(
    batch: &mut Batch<'_>,
    space: Space,
    before: Option<EntryDraft>,
    after: Option<(EntryDraft, ItemRef<'_>)>,
) -> Units {
    batch.count_in(space, before.as_ref().map(|e| e.size), after.as_ref().map(|(e, _)| e.size));
    match (before, after) {
        (None, None) => Units::ZERO,
        (Some(before), Some((after, item))) if before.key == after.key => {
            if after.has_value_of(&before) {
                return Units::ZERO;
            }
            let units = write_units(before.size.max(after.size));
            let (key, value) = after.into_row(item);
            batch.put(key, value);
            units
        }
        (before, after) => {
            let mut units = Units::ZERO;
            if let Some(entry) = before {
                units += write_units(entry.size);
                batch.delete(entry.key);
            }
            if let Some((entry, item)) = after {
                units += write_units(entry.size);
                let (key, value) = entry.into_row(item);
                batch.put(key, value);
            }
            units
        }
    }
}

/// How much an item collection grows: the item and its entries in local indexes.
fn collection_growth(
    table: &Table,
    item: (Option<usize>, Option<usize>),
    entries: &[(Option<EntryDraft>, Option<EntryDraft>)],
) -> Counters {
    let mut total = difference(item.0, item.1);
    for (index, (before, after)) in table.indexes.iter().zip(entries) {
        if index.kind == IndexKind::Local {
            let size = |entry: &Option<EntryDraft>| entry.as_ref().map(|entry| entry.size);
            total.bytes += difference(size(before), size(after)).bytes;
        }
    }
    total
}

fn grow_collection(
    batch: &mut Batch<'_>,
    table: &Table,
    write: &ItemWrite,
    stored: Counters,
    added: Counters,
) -> Result<Option<u64>, Exception> {
    let Some(space) = table.collections else { return Ok(None) };
    let key = Key::Collection { space, token: write.key.partition }.to_bytes();
    let total = stored.bytes + batch.pending(&key).bytes + added.bytes;
    let total = u64::try_from(total).unwrap_or(0);
    if added.bytes > 0 && total > limits::COLLECTION_BYTES {
        return Err(Exception::new(
            ExceptionKind::ItemCollectionSizeLimitExceededException,
            messages::COLLECTION_TOO_LARGE,
        ));
    }
    batch.count(key, added);
    Ok(Some(total))
}
