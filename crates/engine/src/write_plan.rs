//! What one write changes, as a pure function from the item there was: the item, its index entries, its expiry entry, the counters,
//! the stream's record, what its history remembers.

use crate::capacity::{Consumption, write_units};
use crate::change::Change;
use crate::history::History;
use crate::index_entry::{self, Entry};
use crate::item_key::ItemKey;
use crate::lost_item::LostItem;
use crate::scalar_keys;
use crate::stored_key::Key;
use crate::stream::Stream;
use crate::table::{IndexKind, Table};
use crate::write::{Action, ItemWrite, Outcome};
use crate::write_batch::{Batch, difference, shard_of};
use partita_api::capacity::Units;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::Update;
use partita_store::{Counters, Space};
use partita_value::{Item, ItemRef, limits};
use std::borrow::Cow;

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

/// Decides one write: checks it, and adds the rows it changes to the batch. It is given what is stored,
/// and of the condition what was found out before.
pub fn plan(
    batch: &mut Batch<'_>,
    table: &Table,
    record: Recording<'_>,
    (write, verdict): (&ItemWrite, Option<bool>),
    Stored { old, collection, lost }: Stored<'_>,
) -> Result<Outcome, Exception> {
    // Index keys that are known without the old item are checked before the condition.
    let put_entries = match &write.action {
        Action::Put(item) => Some(entries(table, &write.key, Some(item.view()))?),
        Action::Update { update: Some(update), .. } => {
            index_entry::check_update(table, update)?;
            None
        }
        _ => None,
    };
    check_condition(table, (write, verdict), old)?;
    let new = new_item(table, write, old)?;
    let new = new.as_ref().map(Cow::as_ref).map(Item::view);
    let after = match (put_entries, &write.action) {
        (Some(entries), _) => entries,
        (None, Action::Restore(_)) => fitting_entries(table, &write.key, new),
        (None, _) => entries(table, &write.key, new)?,
    };
    let (old_size, new_size) = (old.map(|item| item.size()), new.map(|item| item.size()));
    let size = old_size.unwrap_or(0).max(new_size.unwrap_or(0));
    let mut outcome = Outcome {
        attributes: attributes(write, old, new),
        consumption: Consumption::of_table(write_units(size)),
        collection_bytes: None,
    };
    let before = fitting_entries(table, &write.key, old);
    let change = match lost {
        Some(lost) => Some(Change::Replace { keys: lost.keys.view(), new }),
        None => Change::between(old, new),
    };
    // Whatever can fail comes before the first row.
    let told = match (record.stream, &change) {
        (Some(stream), Some(_)) => Some((stream, shard_of(stream, write)?)),
        _ => None,
    };
    let added = collection_growth(table, (old_size, new_size), &before, &after);
    outcome.collection_bytes = grow_collection(batch, table, write, collection, added)?;
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
        for (index, (before, after)) in table.indexes.iter().zip(before.into_iter().zip(after)) {
            let before = batch.stored(before, index.backfilling);
            let units = change_entry(batch, index.space, before, after);
            if units != Units::ZERO {
                outcome.consumption.charge_index(&index.name, index.kind, units);
            }
        }
    }
    Ok(outcome)
}

/// `verdict` is what the condition says of the item, where that was found out before.
fn check_condition(
    table: &Table,
    (write, verdict): (&ItemWrite, Option<bool>),
    old: Option<ItemRef<'_>>,
) -> Result<(), Exception> {
    let Some(condition) = &write.condition else { return Ok(()) };
    scalar_keys::check(table, condition.nested_roots())?;
    if verdict.map_or_else(|| condition.matches(old), Ok)? {
        return Ok(());
    }
    let mut exception =
        Exception::new(ExceptionKind::ConditionalCheckFailedException, messages::CONDITION_FAILED);
    if write.return_item_on_condition_failure {
        exception.item = old.map(|item| item.to_owned());
    }
    Err(exception)
}

/// The item after the write; `None` if there is none then.
fn new_item<'a>(
    table: &Table,
    write: &'a ItemWrite,
    old: Option<ItemRef<'_>>,
) -> Result<Option<Cow<'a, Item>>, Exception> {
    match &write.action {
        Action::Put(item) | Action::Restore(item) => Ok(Some(Cow::Borrowed(item))),
        Action::Delete { .. } => Ok(None),
        Action::Check => Ok(old.map(|item| Cow::Owned(item.to_owned()))),
        Action::Expire { before, .. } => {
            let due = |item: &ItemRef<'_>| {
                let expiry = table.expiry.as_ref();
                expiry
                    .and_then(|expiry| index_entry::expires_at(expiry, *item))
                    .is_some_and(|at| at < *before)
            };
            Ok(old.filter(|item| !due(item)).map(|item| Cow::Owned(item.to_owned())))
        }
        Action::Update { key, update } => {
            let creates = update.as_ref().is_none_or(Update::creates_item);
            let item = match (update, old) {
                (Some(update), old) => update.apply(old, key.view())?,
                (None, Some(old)) => old.to_owned(),
                (None, None) => key.clone(),
            };
            if item.size() > limits::ITEM_BYTES {
                return Err(Exception::validation(messages::ITEM_TOO_LARGE_AFTER_UPDATE));
            }
            if item.view().is_nested_beyond(limits::NESTING_LEVELS) {
                return Err(Exception::validation(messages::NESTED_TOO_DEEP));
            }
            update.iter().try_for_each(|update| index_entry::check_updated(table, update, item.view()))?;
            Ok((old.is_some() || creates).then_some(Cow::Owned(item)))
        }
    }
}

fn attributes(write: &ItemWrite, old: Option<ItemRef<'_>>, new: Option<ItemRef<'_>>) -> Option<Item> {
    let touched = || match &write.action {
        Action::Update { update: Some(update), .. } => Some(update.touched()),
        _ => None,
    };
    let item = match write.return_values {
        ReturnValues::None => None,
        ReturnValues::AllOld => old.map(|item| item.to_owned()),
        ReturnValues::AllNew => new.map(|item| item.to_owned()),
        ReturnValues::UpdatedOld => old.and_then(|item| Some(touched()?.apply(item))),
        ReturnValues::UpdatedNew => new.and_then(|item| Some(touched()?.apply(item))),
    };
    item.filter(|item| !item.is_empty())
}

/// The item's entry in each index, in the table's order.
fn entries<'a>(
    table: &Table,
    key: &ItemKey,
    item: Option<ItemRef<'a>>,
) -> Result<Vec<Option<Entry<'a>>>, Exception> {
    let entry = |index| match item {
        Some(item) => index_entry::in_index(index, key, item),
        None => Ok(None),
    };
    table.indexes.iter().map(entry).collect()
}

/// The same of an item that was stored before: where it could not be indexed when an index was added, it has no
/// entry.
fn fitting_entries<'a>(table: &Table, key: &ItemKey, item: Option<ItemRef<'a>>) -> Vec<Option<Entry<'a>>> {
    let entry = |index| item.and_then(|item| index_entry::in_index(index, key, item).ok().flatten());
    table.indexes.iter().map(entry).collect()
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
        let entry = |item| index_entry::in_expiry(expiry, table, &write.key, item);
        let before = batch.stored(old.and_then(entry), expiry.backfilling);
        change_entry(batch, expiry.space, before, new.and_then(entry));
    }
}

/// Replaces one entry by another, if they differ; returns what an index is charged for it.
fn change_entry(
    batch: &mut Batch<'_>,
    space: Space,
    before: Option<Entry<'_>>,
    after: Option<Entry<'_>>,
) -> Units {
    batch.count_in(space, before.as_ref().map(|e| e.size), after.as_ref().map(|e| e.size));
    match (before, after) {
        (None, None) => Units::ZERO,
        (Some(before), Some(after)) if before.key == after.key => {
            if before.value == after.value {
                return Units::ZERO;
            }
            let units = write_units(before.size.max(after.size));
            batch.put(after.key, after.value.into_owned());
            units
        }
        (before, after) => {
            let mut units = Units::ZERO;
            if let Some(entry) = before {
                units += write_units(entry.size);
                batch.delete(entry.key);
            }
            if let Some(entry) = after {
                units += write_units(entry.size);
                batch.put(entry.key, entry.value.into_owned());
            }
            units
        }
    }
}

/// How much an item collection grows: the item and its entries in local indexes.
fn collection_growth(
    table: &Table,
    item: (Option<usize>, Option<usize>),
    before: &[Option<Entry<'_>>],
    after: &[Option<Entry<'_>>],
) -> Counters {
    let mut total = difference(item.0, item.1);
    for (index, (before, after)) in table.indexes.iter().zip(before.iter().zip(after)) {
        if index.kind == IndexKind::Local {
            let size = |entry: &Option<Entry<'_>>| entry.as_ref().map(|entry| entry.size);
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
