//! What to write for one item: its new form, the markers of its unique values and its copies, in one transaction.

use super::actions::{Action, Change, Expected, MAX_COMPARED, key_text, transactions};
use super::both_forms::former;
use super::successors::Successors;
use super::tables::{Tables, Work};
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::{Companion, Image, NewItem, Transition, is_same, key_of};
use partita_design::model::Entity;
use std::collections::{BTreeSet, HashMap};

/// Items that were read, by table and hash of the key.
#[derive(Default)]
pub struct Found {
    items: HashMap<(String, u128), Item>,
}

impl Found {
    pub fn add(&mut self, table: &str, key: &Item, item: Item) {
        self.items.insert((table.to_owned(), key_hash(key)), item);
    }

    pub fn get(&self, table: &str, key: &Item) -> Option<&Item> {
        self.items.get(&(table.to_owned(), key_hash(key)))
    }
}

/// What happens to the item itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has its new form already.
    Kept,
    /// It gets other attributes under the same key.
    Changed,
    /// It gets another key, or is copied to another table.
    Moved,
    /// Another item has its new key.
    Blocked,
    /// It is there in its new form too.
    Paired,
    /// In its new form it would be taken for an item of the old model, and change again.
    Unstable,
    /// Something else stands in the way.
    Left,
}

impl Fate {
    /// Whether the item is left alone.
    pub fn is_left(self) -> bool {
        matches!(self, Fate::Blocked | Fate::Paired | Fate::Unstable | Fate::Left)
    }
}

const TOO_LARGE: &str =
    "with what is written beside them they exceed a transaction, of 100 writes and 4 MB; --into copies them";
const TAKEN: &str = "another item has their unique value, or the key of their copy";

pub struct Plan {
    pub fate: Fate,
    pub actions: Vec<Action>,
    pub markers: u64,
    pub updated_markers: u64,
    pub copies: u64,
    pub updated_copies: u64,
    pub removed: u64,
    /// What is left alone, and why.
    pub left: Vec<(String, String)>,
    /// The keys of both forms of an item that is there in both.
    pub pair: Option<String>,
}

impl Plan {
    fn new(fate: Fate) -> Plan {
        let (actions, left) = (Vec::new(), Vec::new());
        let [markers, updated_markers, copies, updated_copies, removed] = [0; 5];
        Plan { fate, actions, markers, updated_markers, copies, updated_copies, removed, left, pair: None }
    }

    /// What is done for an item that is left alone: nothing.
    fn leave(key: &Item, reason: &str) -> Plan {
        Plan { left: vec![(reason.to_owned(), key_text(key))], ..Plan::new(Fate::Left) }
    }
}

/// Which versions are the newest, by the hash of their copy's key.
pub type NewestVersions = HashMap<u128, f64>;

pub struct Planner<'p> {
    pub tables: &'p Tables,
    pub found: &'p Found,
    pub newest: &'p NewestVersions,
    /// Names of attributes that items have.
    pub names: &'p BTreeSet<String>,
    /// Whether the table's stream shows what a deleted item was.
    pub is_followed: bool,
    /// Whether markers stay that only the old model needs: an application that follows it looks for them.
    pub keeps_old_markers: bool,
    /// Whether this is a change of the application, which has not been compared with all other items.
    pub is_carried: bool,
    /// Whether nothing is written yet: in place, whatever has the new key of another item will have left it by then, or is named as a collision.
    pub is_foreseen: bool,
    /// Where items are whose old key does not tell what they have become.
    pub successors: Option<&'p Successors<'p>>,
    /// The keys of markers and copies that a carried item has where it is now.
    pub belongings: &'p [Item],
}

impl Planner<'_> {
    pub fn plan(&self, work: &Work<'_>, new: &NewItem<'_>) -> Plan {
        let mut plan = Plan::new(Fate::Kept);
        self.add_item(work, new, &mut plan);
        let in_place = self.tables.is_in_place();
        if in_place && self.is_carried && plan.fate == Fate::Moved && self.is_taken(work, new) {
            return Plan::leave(&work.key(self.tables), TAKEN);
        }
        if !plan.fate.is_left() {
            self.add_others(work, new, &mut plan);
        }
        if in_place && plan.fate == Fate::Kept && !plan.actions.is_empty() {
            // What is written follows from the item as it was read.
            let (table, key) = (self.tables.sources[work.source].table.clone(), work.key(self.tables));
            let expected = Expected::same(&work.item, []);
            plan.actions.push(Action { table, key, change: Change::Check, expected });
        }
        if in_place && transactions(&plan.actions).len() > 1 {
            return Plan::leave(&work.key(self.tables), TOO_LARGE);
        }
        plan
    }

    /// The new form of an item in place that is there under its old key too.
    pub fn new_form(&self, work: &Work<'_>, new: &NewItem<'_>) -> Option<&Item> {
        let target = &self.tables.targets[work.target];
        let (old_key, new_key) = (work.key(self.tables), new.key(&target.model));
        if !self.tables.is_in_place() || old_key == new_key {
            return None;
        }
        let transition = self.tables.transition(work.source, work.target);
        let known = self.successors.and_then(|successors| successors.get(&old_key));
        let mut found = [Some(new_key), known]
            .into_iter()
            .flatten()
            .filter_map(|key| self.found.get(&target.table, &key));
        found.find(|found| former(&transition, &old_key, found).is_some())
    }

    /// Whether a marker or a copy of a new item exists before it, and was not the item's own under its old key or where it is now.
    fn is_taken(&self, work: &Work<'_>, new: &NewItem<'_>) -> bool {
        let target = &self.tables.targets[work.target];
        new.companions.iter().filter(|companion| companion.version.is_none()).any(|companion| {
            let key = key_of(&target.model, &companion.item);
            let is_own = companion.old_key.as_ref() == Some(&key) || self.belongings.contains(&key);
            !is_own && self.found.get(&target.table, &key).is_some()
        })
    }

    /// What to write for items that exchange their keys: each gets that of the next, and the last that of the first.
    pub fn plan_circle(&self, circle: &[(&Work<'_>, &NewItem<'_>)]) -> Plan {
        let mut plan = Plan::new(Fate::Moved);
        for (number, (work, new)) in circle.iter().enumerate() {
            let (next, _) = circle[(number + 1) % circle.len()];
            let table = &self.tables.targets[work.target].table;
            let expected = Expected::same(&next.item, self.names);
            plan.actions.push(Action::put(table, next.key(self.tables), new.item.clone(), expected));
        }
        circle.iter().for_each(|(work, new)| self.add_others(work, new, &mut plan));
        plan
    }

    /// Adds what is written with an item: its markers and copies.
    fn add_others(&self, work: &Work<'_>, new: &NewItem<'_>, plan: &mut Plan) {
        for companion in &new.companions {
            self.add_companion(work, new, companion, plan);
        }
        for key in new.obsolete.iter().filter(|_| !self.keeps_old_markers) {
            self.remove_marker(work, new, key, plan);
        }
    }

    /// Removes a marker that is not needed any more, unless it has attributes that no other takes over.
    fn remove_marker(&self, work: &Work<'_>, new: &NewItem<'_>, key: &Item, plan: &mut Plan) {
        let table = &self.tables.sources[work.source].table;
        let Some(item) = self.found.get(table, key) else { return };
        if plan.left.iter().any(|(_, left)| *left == key_text(key)) {
            return;
        }
        let successor = new.companions.iter().find(|own| own.old_key.as_ref() == Some(key));
        let own = own_attributes(item, key, new);
        if !own.is_empty() && !successor.is_some_and(|other| self.takes_over(work, other, &own, plan)) {
            let reason = "they mark values that the new model does not keep unique, or that have another marker, and have attributes";
            plan.left.push((reason.to_owned(), key_text(key)));
        } else if self.tables.is_in_place() && plan.actions.iter().all(|action| action.key != *key) {
            plan.actions.push(Action::delete(table, key.clone(), item.clone()));
            plan.removed += 1;
        }
    }

    /// Whether the marker that replaces another one has its own attributes, or will have them.
    fn takes_over(&self, work: &Work<'_>, successor: &Companion<'_>, own: &Item, plan: &Plan) -> bool {
        let target = &self.tables.targets[work.target];
        let new_key = key_of(&target.model, &successor.item);
        let written =
            plan.actions.iter().find(|action| action.table == target.table && action.key == new_key);
        let marker = written.and_then(Action::item).or_else(|| self.found.get(&target.table, &new_key));
        marker.is_some_and(|marker| own.iter().all(|(name, value)| marker.get(name) == Some(value)))
    }

    fn add_item(&self, work: &Work<'_>, new: &NewItem<'_>, plan: &mut Plan) {
        let (source, target) = (&self.tables.sources[work.source], &self.tables.targets[work.target]);
        let (old_key, new_key) = (work.key(self.tables), new.key(&target.model));
        let in_place = self.tables.is_in_place();
        let transition = self.tables.transition(work.source, work.target);
        if in_place && !is_same(&work.item, &new.item) && !transition.is_new_form(&new.item) {
            plan.fate = Fate::Unstable;
            return;
        }
        if in_place && old_key == new_key {
            if !is_same(&work.item, &new.item) {
                plan.fate = Fate::Changed;
                plan.actions.push(Action::update(&target.table, new_key, &work.item, new.item.clone()));
            }
            return;
        }
        if in_place && !self.is_followed && work.item.len() - old_key.len() > MAX_COMPARED {
            let reason = format!(
                "a condition compares {MAX_COMPARED} attributes, and what changes beyond them while they move would be lost; --follow or \
                 --into moves them"
            );
            *plan = Plan::leave(&old_key, &reason);
            return;
        }
        if let Some(other) = self.new_form(work, new) {
            let other = key_text(&key_of(&target.model, other));
            plan.pair = Some(format!("{other} is the new form of {}", key_text(&old_key)));
            plan.fate = Fate::Paired;
            return;
        }
        let leaves = in_place && self.is_foreseen;
        let found = self.found.get(&target.table, &new_key).filter(|_| !leaves);
        let expected = match found {
            None => Expected::Absent,
            Some(found) if !in_place && is_same(found, &new.item) => return,
            Some(found) if !in_place => Expected::same(found, []),
            Some(_) => {
                plan.fate = Fate::Blocked;
                return;
            }
        };
        plan.fate = if found.is_some() { Fate::Changed } else { Fate::Moved };
        plan.actions.push(Action::put(&target.table, new_key, new.item.clone(), expected));
        if in_place {
            // What the application adds meanwhile would be deleted too.
            let declared = new.before.into_iter().flat_map(|before| &before.attributes);
            let expected = Expected::same(&work.item, declared.map(|own| &own.name).chain(self.names));
            let table = source.table.clone();
            plan.actions.push(Action { table, key: old_key, change: Change::Delete, expected });
        }
    }

    /// Adds the marker of a unique value, with what the application stores in the one that is there.
    fn add_marker(
        &self,
        work: &Work<'_>,
        new: &NewItem<'_>,
        companion: &Companion<'_>,
        found: Option<&Item>,
        old: Option<(&Item, &Item)>,
        plan: &mut Plan,
    ) {
        let (source, target) = (&self.tables.sources[work.source], &self.tables.targets[work.target]);
        // In place, the marker that is there in the new form is newer; elsewhere, the application writes the one in the source.
        let (in_place, key) = (self.tables.is_in_place(), key_of(&target.model, &companion.item));
        let old = old.map(|(_, item)| item).filter(|_| !in_place || found.is_none());
        let present = old.or(found).cloned().unwrap_or_default();
        let present_key = key_of(if old.is_some() { &source.model } else { &target.model }, &present);
        let mut marker = own_attributes(&present, &present_key, new);
        marker.extend(companion.item.clone());
        let transition = self.tables.transition(work.source, work.target);
        if let Some(reason) = transition.in_foreign_index(None, &marker) {
            plan.left.push((reason, key_text(&present_key)));
            return;
        }
        match found {
            None => {
                plan.markers += 1;
                plan.actions.push(Action::put(&target.table, key, marker, Expected::Absent));
            }
            Some(found) if is_same(found, &marker) => {}
            Some(found) => {
                plan.updated_markers += 1;
                plan.actions.push(Action::update(&target.table, key, found, marker));
            }
        }
    }

    fn add_companion(&self, work: &Work<'_>, new: &NewItem<'_>, companion: &Companion<'_>, plan: &mut Plan) {
        let (source, target) = (&self.tables.sources[work.source], &self.tables.targets[work.target]);
        let key = key_of(&target.model, &companion.item);
        let is_old = |version: f64| self.newest.get(&key_hash(&key)).is_some_and(|newest| version < *newest);
        let is_written = |action: &Action| action.table == target.table && action.key == key;
        if companion.version.is_some_and(is_old) || plan.actions.iter().any(is_written) {
            return;
        }
        let found = self.found.get(&target.table, &key);
        let in_place = self.tables.is_in_place();
        let old_key = companion.old_key.as_ref().filter(|old| !in_place || **old != key);
        let old = old_key.and_then(|key| Some((key, self.found.get(&source.table, key)?)));
        let Some(entity) = companion.entity else {
            return self.add_marker(work, new, companion, found, old, plan);
        };
        let transition = self.tables.transition(work.source, work.target);
        let stored = old.map(|(_, item)| item);
        // What the application has saved meanwhile is newer than what was read.
        let mut newer = newer_versions(&transition, companion, found.into_iter().chain(stored));
        if in_place && newer.any(|key| self.found.get(&source.table, &key).is_some()) {
            return;
        }
        // In place, what is there in the new form is newer; elsewhere, only what is stored in the source is the application's.
        let (first, second) = if in_place { (found, stored) } else { (stored, found) };
        let wanted = first.or(second).map_or_else(
            || companion.item.clone(),
            |present| transition.completed_copy(entity, &companion.item, present),
        );
        let own = if in_place { [found, stored] } else { [stored, None] };
        let in_index = || transition.in_foreign_index(Some(entity), &wanted);
        let obstacle =
            |own: &Item| transition.overwritten(entity, &work.item, &wanted, own).or_else(in_index);
        if let Some((own, reason)) = own.into_iter().flatten().find_map(|own| Some((own, obstacle(own)?))) {
            plan.left.push((reason, key_text(&key_of(&source.model, own))));
            return;
        }
        match found {
            Some(found) if is_same(found, &wanted) => {}
            Some(found) => {
                // Another item may have the key of the copy; it is never overwritten.
                if matches!(transition.image(found), Image::Copy { entity: other, .. } if other.name == entity.name)
                {
                    plan.updated_copies += 1;
                    plan.actions.push(Action::update(&target.table, key, found, wanted));
                }
            }
            None => {
                plan.copies += 1;
                plan.actions.push(Action::put(&target.table, key, wanted, Expected::Absent));
            }
        }
        if let Some((key, item)) = old.filter(|_| in_place) {
            plan.removed += 1;
            plan.actions.push(Action::delete(&source.table, key.clone(), item.clone()));
        }
    }
}

/// The keys of originals with a higher version from which copies that are there may have been made.
pub fn newer_versions<'a>(
    transition: &'a Transition<'_>,
    companion: &'a Companion<'_>,
    copies: impl Iterator<Item = &'a Item> + 'a,
) -> impl Iterator<Item = Item> + 'a {
    let version = companion.entity.zip(companion.version);
    copies.flat_map(move |copy| {
        let is_newer = |(entity, version): &(&Entity, f64)| {
            transition.copied_version(entity, copy).is_some_and(|own| own > *version)
        };
        let newer = version.filter(is_newer);
        newer.map(|(entity, _)| transition.original_keys(entity, copy)).unwrap_or_default()
    })
}

/// What the application has stored in a marker: neither its key nor the expiry that it had from its item.
fn own_attributes(marker: &Item, key: &Item, new: &NewItem<'_>) -> Item {
    let expiry = new.before.and_then(|before| before.ttl.as_ref());
    let is_own = |name: &String| !key.contains_key(name) && expiry != Some(name);
    marker
        .iter()
        .filter(|(name, _)| is_own(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
