//! Where items are in their new form whose old key does not tell it: those that are written under it again, with other values, are the same items.

use super::Migration;
use super::actions::{Action, key_text};
use super::ledger::{Claim, Ledger};
use super::summary::NamedItems;
use super::tables::{Tables, Work};
use crate::model::items;
use partita_design::formatting::list;
use partita_design::item::{Item, Value};
use partita_design::migration::contents::key_hash;
use partita_design::migration::{Image, key_of};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The new keys of items, by the hashes of their old keys.
pub struct Successors<'t> {
    /// The entities whose new keys do not follow from the old ones.
    entities: BTreeSet<&'t str>,
    names: &'t [String],
    /// The values of the keys.
    new_keys: HashMap<u128, Box<[Value]>>,
}

impl<'t> Successors<'t> {
    /// `None` if all old keys tell what items become.
    pub fn new(tables: &'t Tables) -> Option<Successors<'t>> {
        let entities = tables.transition(0, 0).entities_with_free_keys();
        let names = &tables.targets[0].model.table.keys;
        let is_needed = tables.is_in_place() && !entities.is_empty();
        is_needed.then(|| Successors { entities, names, new_keys: HashMap::new() })
    }

    /// The new key of the item that has this key in its old form.
    pub fn get(&self, old_key: &Item) -> Option<Item> {
        let values = self.new_keys.get(&key_hash(old_key))?;
        Some(self.names.iter().cloned().zip(values.iter().cloned()).collect())
    }

    /// The old key of an item that has its new form.
    fn old_key(&self, tables: &Tables, work: &Work<'_>) -> Option<Item> {
        let (transition, key) = (tables.transition(0, 0), work.key(tables));
        match &work.image {
            Image::Item(new) if self.entities.contains(new.entity.name.as_str()) => {
                let former = transition.former(&work.item).filter(|_| new.key(transition.new) == key)?;
                Some(key_of(transition.old, &former))
            }
            _ => None,
        }
    }

    fn note(&mut self, old_key: &Item, new_key: &Item) {
        let values = self.names.iter().filter_map(|name| new_key.get(name)).cloned().collect();
        self.new_keys.insert(key_hash(old_key), values);
    }
}

impl Migration<'_> {
    /// Remembers where an item is that has its new form.
    pub(super) fn note_form(&mut self, work: &Work<'_>) {
        let Some(successors) = &mut self.successors else { return };
        if let Some(old_key) = successors.old_key(self.tables, work) {
            successors.note(&old_key, &work.key(self.tables));
        }
    }

    /// Remembers where items are that this migration has written.
    pub(super) fn note_forms_written(&mut self, actions: &[Action]) {
        if self.successors.is_some() {
            let written = actions.iter().filter_map(Action::item);
            written.for_each(|item| self.note_form(&self.tables.work(0, item.clone())));
        }
    }

    /// Remembers where an item is that the application has written in its new form, unless it has moved on since.
    pub(super) fn note_form_shown(&mut self, new: &Item) -> Result<(), String> {
        let Some(successors) = &self.successors else { return Ok(()) };
        let work = self.tables.work(0, new.clone());
        let key = work.key(self.tables);
        let Some(old_key) = successors.old_key(self.tables, &work) else { return Ok(()) };
        if successors.get(&old_key).is_none_or(|known| known != key)
            && let Some(now) = self.read(0, &key)?
        {
            self.note_form(&now);
        }
        Ok(())
    }

    /// Reads where all items are that have their new form, and returns those that were one item of the old model and are several now.
    pub(super) fn trace(&mut self) -> Result<NamedItems, String> {
        let (tables, transition) = (self.tables, self.tables.transition(0, 0));
        let Some(mut successors) = self.successors.take() else { return Ok(NamedItems::default()) };
        let (table, mut ledger, mut outcome) = (&tables.sources[0].table, Ledger::default(), Ok(()));
        items::each(&mut self.client, table, |item| {
            let work = tables.work(0, item.clone());
            let Some(old_key) = successors.old_key(tables, &work) else { return };
            successors.note(&old_key, &work.key(tables));
            if let (Some(lineage), Ok(())) = (transition.lineage(item), &outcome) {
                outcome = ledger.add(lineage, Claim::Item);
            }
        })?;
        outcome?;
        self.successors = Some(successors);
        let mut twins: BTreeMap<u128, Vec<String>> = BTreeMap::new();
        let contested = ledger.finish()?.contested;
        if !contested.is_empty() {
            // A table that changes while it is read may show an item where it was and where it is.
            items::each(&mut self.client, table, |item| {
                let lineage = transition.lineage(item).filter(|lineage| contested.contains(lineage));
                if let Some(lineage) = lineage {
                    twins.entry(lineage).or_default().push(key_text(&key_of(transition.new, item)));
                }
            })?;
        }
        let mut named = NamedItems::default();
        for mut keys in twins.into_values().filter(|keys| keys.len() > 1) {
            keys.sort();
            named.add(list(&keys));
        }
        Ok(named)
    }
}
