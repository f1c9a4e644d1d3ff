//! The writes of a migration that follows the table's stream, until the stream shows them.
//!
//! No condition can say that an item has no other attributes than those that were read. The stream shows what an item really was when it moved:
//! what the application had added or changed by then is carried over to where the item is now.

use super::Migration;
use super::actions::{Action, Change, Expected, MAX_COMPARED};
use super::follow::StreamChange;
use super::pass::MAX_ATTEMPTS;
use super::summary::MigrationSummary;
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::{Image, is_same, is_same_value, key_of};
use std::collections::{BTreeSet, HashMap};

/// A write that the stream has not shown yet.
pub struct OwnWrite {
    /// The item as it was read.
    before: Option<Item>,
    /// The item as it was written; `None` if it was deleted.
    after: Option<Item>,
}

/// By the hash of the item's key, in the order in which they were made.
#[derive(Default)]
pub struct OwnWrites {
    by_key: HashMap<u128, Vec<OwnWrite>>,
}

impl OwnWrites {
    fn add(&mut self, action: &Action) {
        if matches!(action.change, Change::Check) {
            return;
        }
        let before = match &action.expected {
            Expected::Same { item, .. } => Some(item.clone()),
            Expected::Absent => None,
        };
        let after = match &action.change {
            Change::Put(item) | Change::Update(item) => Some(item.clone()),
            Change::Delete | Change::Check => None,
        };
        self.by_key.entry(key_hash(&action.key)).or_default().push(OwnWrite { before, after });
    }

    /// Marks the changes that are writes of the migration.
    pub fn mark(&mut self, changes: &mut [StreamChange]) {
        changes.iter_mut().for_each(|change| change.own = self.take(change));
    }

    /// Takes the write that the stream shows, if it is one.
    fn take(&mut self, change: &StreamChange) -> Option<OwnWrite> {
        let hash = key_hash(&change.key);
        let writes = self.by_key.get_mut(&hash)?;
        let is_shown = |write: &OwnWrite| match (&write.after, &change.new) {
            (None, None) => change.is_deletion && is_compared(write, change),
            (Some(after), Some(new)) => is_same(after, new),
            _ => false,
        };
        let number = writes.iter().position(is_shown)?;
        let write = writes.remove(number);
        if writes.is_empty() {
            self.by_key.remove(&hash);
        }
        Some(write)
    }
}

/// Whether what was deleted is what was read, as far as a condition compares it. Otherwise the application has deleted something else there.
fn is_compared(write: &OwnWrite, change: &StreamChange) -> bool {
    let (Some(read), Some(gone)) = (&write.before, &change.old) else { return true };
    let mut compared = read.iter().filter(|(name, _)| !change.key.contains_key(*name)).take(MAX_COMPARED);
    compared.all(|(name, value)| gone.get(name).is_some_and(|gone| is_same_value(gone, value)))
}

impl Migration<'_> {
    /// Remembers writes that have succeeded.
    pub(super) fn note_written(&mut self, actions: &[Action]) {
        self.written += 1;
        self.note_forms_written(actions);
        if let Some(own_writes) = &mut self.own_writes {
            actions.iter().for_each(|action| own_writes.add(action));
        }
    }

    /// Carries over what a write of the migration shows that was not read before it.
    pub(super) fn carry_unread(&mut self, change: &StreamChange) -> Result<(), String> {
        let read = change.own.as_ref().and_then(|write| write.before.as_ref());
        match (read, &change.old) {
            (Some(read), Some(gone)) if !is_same(read, gone) => {
                self.carry_difference(change.source, read, gone)
            }
            _ => Ok(()),
        }
    }

    /// Gives an item that has moved what the application had changed before: `read` is what it was thought to be, `gone` what it was.
    fn carry_difference(&mut self, source: usize, read: &Item, gone: &Item) -> Result<(), String> {
        let tables = self.tables;
        let (read, gone) = (tables.work(source, read.clone()), tables.work(source, gone.clone()));
        let (Image::Item(made), Image::Item(wanted)) = (&read.image, &gone.image) else { return Ok(()) };
        let (model, table) = (&tables.targets[0].model, &tables.targets[0].table);
        let key = key_of(model, &made.item);
        let names: BTreeSet<&String> = made.item.keys().chain(wanted.item.keys()).collect();
        for _ in 0..MAX_ATTEMPTS {
            let Some(now) = self.read(source, &key)? else { return Ok(()) };
            let mut merged = now.item.clone();
            for name in names.iter().filter(|name| !key.contains_key(**name)) {
                let value = wanted.item.get(*name);
                // What was changed again since is newer.
                if value != made.item.get(*name) && now.item.get(*name) == made.item.get(*name) {
                    merged.remove(*name);
                    merged.extend(value.map(|value| ((*name).clone(), value.clone())));
                }
            }
            let is_written = is_same(&merged, &now.item)
                || self.execute(&[Action::update(table, key.clone(), &now.item, merged)])?;
            if is_written {
                self.carried += 1;
                let work = self.read(source, &key)?;
                return work.map_or(Ok(()), |work| self.process_now(work, &mut MigrationSummary::default()));
            }
        }
        Err(format!(
            "the application changes {} all the time, so that what it added while the item moved could not be carried over: {:?}",
            super::actions::key_text(&key),
            gone.item
        ))
    }
}
