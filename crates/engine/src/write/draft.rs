//! The draft of a write: the new item, its index entries, and the attributes to return.
//!
//! A draft is a pure function of the table, the write and the old item, and by far the most expensive part of a decision. So
//! it may be prepared outside of the writer (`prepared_drafts.rs`), which then only has to check that table and item are still
//! the same.

use crate::catalog::table::{Index, Table};
use crate::index::index_entry::{self, Entry};
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::write::{Action, ItemWrite};
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind, messages};
use partita_expression::Update;
use partita_value::{Item, ItemRef, limits};
use std::borrow::Cow;
use std::sync::Arc;

/// What a write does, given the old item.
#[derive(Clone)]
pub struct Draft {
    pub new_item: NewItem,
    /// The attributes that `ReturnValues` selects.
    pub attributes: Option<Item>,
    /// The entries of the old item and of the new one, in the order of the table's indexes.
    pub entries: Vec<(Option<EntryDraft>, Option<EntryDraft>)>,
}

/// The item after the write.
#[derive(Clone)]
pub enum NewItem {
    /// There is none.
    None,
    /// The old item.
    Unchanged,
    /// The item of the request.
    Sent,
    /// The result of an update.
    Computed(Arc<Item>),
}

impl Draft {
    pub fn new(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> Result<Draft, Exception> {
        // Index keys that are known without the old item are checked before the condition.
        let put_entries = match &write.action {
            Action::Put(item) => {
                let entry = |index| entry(index, &write.key, Some(item.view()));
                Some(table.indexes.iter().map(entry).collect::<Result<Vec<_>, _>>()?)
            }
            Action::Update { update: Some(update), .. } => {
                index_entry::check_update(table, update)?;
                None
            }
            _ => None,
        };
        check_condition(table, write, old)?;
        let new_item = draft_new_item(table, write, old)?;
        let new = new_item.item(write, old);
        let key = &write.key;
        let before = |index: &Index| fitting_entry(index, key, old);
        let indexes = table.indexes.iter();
        let entries = match (put_entries, &write.action) {
            (Some(entries), _) => indexes.map(before).zip(entries).collect(),
            (None, Action::Restore(_)) => {
                indexes.map(|index| (before(index), fitting_entry(index, key, new))).collect()
            }
            (None, Action::Check { .. }) => Vec::new(),
            (None, _) => indexes
                .map(|index| Ok((before(index), entry(index, key, new)?)))
                .collect::<Result<_, Exception>>()?,
        };
        let attributes = attributes(write, old, new);
        Ok(Draft { attributes, entries, new_item })
    }
}

impl NewItem {
    fn of(item: Option<ItemRef<'_>>) -> NewItem {
        item.map_or(NewItem::None, |_| NewItem::Unchanged)
    }

    /// The item; `None` if there is none.
    pub fn item<'a>(&'a self, write: &'a ItemWrite, old: Option<ItemRef<'a>>) -> Option<ItemRef<'a>> {
        match (self, &write.action) {
            (NewItem::Unchanged, _) => old,
            (NewItem::Computed(item), _) => Some(item.view()),
            (NewItem::Sent, Action::Put(item) | Action::Restore(item)) => Some(item.view()),
            (NewItem::None | NewItem::Sent, _) => None,
        }
    }
}

/// The entry of an item in an index: the whole item, or a part of it.
#[derive(Clone)]
pub struct EntryDraft {
    pub key: Vec<u8>,
    part: Option<Vec<u8>>,
    pub size: usize,
}

impl From<Entry<'_>> for EntryDraft {
    fn from(entry: Entry<'_>) -> EntryDraft {
        let part = match entry.value {
            Cow::Borrowed(_) => None,
            Cow::Owned(part) => Some(part),
        };
        EntryDraft { key: entry.key, part, size: entry.size }
    }
}

impl EntryDraft {
    /// Whether it has the same value as the entry of a different item.
    pub fn has_value_of(&self, other: &EntryDraft) -> bool {
        self.part.is_some() && self.part == other.part
    }

    /// The key and the value of the row.
    pub fn into_row(self, item: ItemRef<'_>) -> (Vec<u8>, Vec<u8>) {
        (self.key, self.part.unwrap_or_else(|| item.bytes().to_vec()))
    }
}

/// An upper estimate of the bytes that making a draft examines.
pub fn work(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> usize {
    let old = old.map_or(0, |item| item.bytes().len());
    let condition = write.condition.as_ref().map_or(0, |condition| condition.work(old));
    let update = match &write.action {
        Action::Update { update: Some(update), .. } => update.work(old),
        _ => 0,
    };
    let sent = match &write.action {
        Action::Put(item) | Action::Restore(item) => item.view().bytes().len(),
        Action::Check { .. } => return condition,
        _ => old,
    };
    condition + update + table.indexes.len() * (old + sent)
}

fn check_condition(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> Result<(), Exception> {
    let Some(condition) = &write.condition else { return Ok(()) };
    scalar_keys::check(table, condition.nested_roots())?;
    if condition.matches(old)? {
        return Ok(());
    }
    let mut exception =
        Exception::new(ExceptionKind::ConditionalCheckFailedException, messages::CONDITION_FAILED);
    if write.return_item_on_condition_failure {
        exception.item = old.map(|item| item.to_owned());
    }
    Err(exception)
}

fn draft_new_item(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> Result<NewItem, Exception> {
    match &write.action {
        Action::Put(_) | Action::Restore(_) => Ok(NewItem::Sent),
        Action::Delete { .. } => Ok(NewItem::None),
        Action::Check { .. } => Ok(NewItem::of(old)),
        Action::Expire { before, .. } => {
            let due = |item: &ItemRef<'_>| {
                let expiry = table.expiry.as_ref();
                expiry
                    .and_then(|expiry| index_entry::expires_at(expiry, *item))
                    .is_some_and(|at| at < *before)
            };
            Ok(NewItem::of(old.filter(|item| !due(item))))
        }
        Action::Update { key, update: None } => Ok(match old {
            Some(_) => NewItem::Unchanged,
            None => NewItem::Computed(Arc::new(key.clone())),
        }),
        Action::Update { key, update: Some(update) } => updated_item(table, key, update, old),
    }
}

fn updated_item(
    table: &Table,
    key: &Item,
    update: &Update,
    old: Option<ItemRef<'_>>,
) -> Result<NewItem, Exception> {
    let item = update.apply(old, key.view())?;
    if item.size() > limits::ITEM_BYTES {
        return Err(Exception::validation(messages::ITEM_TOO_LARGE_AFTER_UPDATE));
    }
    if item.view().is_nested_beyond(limits::NESTING_LEVELS) {
        return Err(Exception::validation(messages::NESTED_TOO_DEEP));
    }
    index_entry::check_updated(table, update, item.view())?;
    let exists = old.is_some() || update.creates_item();
    Ok(if exists { NewItem::Computed(Arc::new(item)) } else { NewItem::None })
}

fn attributes(write: &ItemWrite, old: Option<ItemRef<'_>>, new: Option<ItemRef<'_>>) -> Option<Item> {
    let touched = || match &write.action {
        Action::Update { update: Some(update), .. } => Some(update.targets()),
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

/// The item's entry in an index.
fn entry(index: &Index, key: &ItemKey, item: Option<ItemRef<'_>>) -> Result<Option<EntryDraft>, Exception> {
    let Some(item) = item else { return Ok(None) };
    Ok(index_entry::in_index(index, key, item)?.map(EntryDraft::from))
}

/// The entry of an item that was stored before; none if it did not match the index's key types when the index was added.
fn fitting_entry(index: &Index, key: &ItemKey, item: Option<ItemRef<'_>>) -> Option<EntryDraft> {
    index_entry::in_index(index, key, item?).ok().flatten().map(EntryDraft::from)
}
