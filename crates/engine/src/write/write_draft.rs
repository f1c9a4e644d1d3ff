//! What one write makes of the item there was: the item afterwards, its index entries, what is answered.
//!
//! A draft is a pure function of the table, the write and the item there was, and costs by far the most of a decision. So it
//! may be made ahead of the writer (`drafts.rs`), who then only has to see that table and item are still the same.

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

#[derive(Clone)]
pub struct Draft {
    pub after: After,
    /// As `ReturnValues` asked.
    pub attributes: Option<Item>,
    /// The entries of the item there was and of the new one, in the order of the table's indexes.
    pub entries: Vec<(Option<EntryDraft>, Option<EntryDraft>)>,
}

/// The item after the write.
#[derive(Clone)]
pub enum After {
    Nothing,
    /// What there was.
    Same,
    /// What the write brings.
    Sent,
    Made(Arc<Item>),
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
        let after = new_item(table, write, old)?;
        let new = after.item(write, old);
        let key = &write.key;
        let before = |index: &Index| fitting_entry(index, key, old);
        let indexes = table.indexes.iter();
        let entries = match (put_entries, &write.action) {
            (Some(entries), _) => indexes.map(before).zip(entries).collect(),
            (None, Action::Restore(_)) => {
                indexes.map(|index| (before(index), fitting_entry(index, key, new))).collect()
            }
            (None, Action::Check) => Vec::new(),
            (None, _) => indexes
                .map(|index| Ok((before(index), entry(index, key, new)?)))
                .collect::<Result<_, Exception>>()?,
        };
        let attributes = attributes(write, old, new);
        Ok(Draft { attributes, entries, after })
    }
}

impl After {
    fn of(item: Option<ItemRef<'_>>) -> After {
        item.map_or(After::Nothing, |_| After::Same)
    }

    /// The item; `None` if there is none then.
    pub fn item<'a>(&'a self, write: &'a ItemWrite, old: Option<ItemRef<'a>>) -> Option<ItemRef<'a>> {
        match (self, &write.action) {
            (After::Same, _) => old,
            (After::Made(item), _) => Some(item.view()),
            (After::Sent, Action::Put(item) | Action::Restore(item)) => Some(item.view()),
            (After::Nothing | After::Sent, _) => None,
        }
    }
}

/// A row that is to be kept beside an item: the item itself, or a part of it.
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
    /// Whether it has the same value as another, of an item that is not the same.
    pub fn has_value_of(&self, other: &EntryDraft) -> bool {
        self.part.is_some() && self.part == other.part
    }

    /// The key and the value, of an item.
    pub fn into_row(self, item: ItemRef<'_>) -> (Vec<u8>, Vec<u8>) {
        (self.key, self.part.unwrap_or_else(|| item.bytes().to_vec()))
    }
}

/// About how many bytes are looked at to make a draft, at most.
pub fn work(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> usize {
    let old = old.map_or(0, |item| item.bytes().len());
    let condition = write.condition.as_ref().map_or(0, |condition| condition.work(old));
    let update = match &write.action {
        Action::Update { update: Some(update), .. } => update.work(old),
        _ => 0,
    };
    let sent = match &write.action {
        Action::Put(item) | Action::Restore(item) => item.view().bytes().len(),
        Action::Check => return condition,
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

fn new_item(table: &Table, write: &ItemWrite, old: Option<ItemRef<'_>>) -> Result<After, Exception> {
    match &write.action {
        Action::Put(_) | Action::Restore(_) => Ok(After::Sent),
        Action::Delete { .. } => Ok(After::Nothing),
        Action::Check => Ok(After::of(old)),
        Action::Expire { before, .. } => {
            let due = |item: &ItemRef<'_>| {
                let expiry = table.expiry.as_ref();
                expiry
                    .and_then(|expiry| index_entry::expires_at(expiry, *item))
                    .is_some_and(|at| at < *before)
            };
            Ok(After::of(old.filter(|item| !due(item))))
        }
        Action::Update { key, update: None } => Ok(match old {
            Some(_) => After::Same,
            None => After::Made(Arc::new(key.clone())),
        }),
        Action::Update { key, update: Some(update) } => updated_item(table, key, update, old),
    }
}

fn updated_item(
    table: &Table,
    key: &Item,
    update: &Update,
    old: Option<ItemRef<'_>>,
) -> Result<After, Exception> {
    let item = update.apply(old, key.view())?;
    if item.size() > limits::ITEM_BYTES {
        return Err(Exception::validation(messages::ITEM_TOO_LARGE_AFTER_UPDATE));
    }
    if item.view().is_nested_beyond(limits::NESTING_LEVELS) {
        return Err(Exception::validation(messages::NESTED_TOO_DEEP));
    }
    index_entry::check_updated(table, update, item.view())?;
    let exists = old.is_some() || update.creates_item();
    Ok(if exists { After::Made(Arc::new(item)) } else { After::Nothing })
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

/// The same of an item that was stored before: where it could not be indexed when the index was added, it has no entry.
fn fitting_entry(index: &Index, key: &ItemKey, item: Option<ItemRef<'_>>) -> Option<EntryDraft> {
    index_entry::in_index(index, key, item?).ok().flatten().map(EntryDraft::from)
}
