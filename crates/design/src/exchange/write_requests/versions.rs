//! Versions in the requests of a write: which one an action adds, changes or removes, and what a transaction shows of the others.

use super::examples::{Example, Examples, MAX_SEARCHED, items_shown};
use crate::audit::copying::{Copying, PairKey};
use crate::item::{Attributes, attributes};
use crate::model::{Action, Entity, Model, Verb};
use std::collections::BTreeMap;

/// The versions of one thing, by number.
type History = BTreeMap<u64, Attributes>;

/// An item that a transaction only checks.
pub(super) struct Check<'m> {
    pub entity: &'m Entity,
    pub values: Attributes,
    /// Whether it must exist; otherwise it must not.
    pub exists: bool,
}

/// The copy of the newest version of an entity's items.
fn versioned<'m>(model: &'m Model, entity: &'m Entity) -> Option<Copying<'m>> {
    let all = Copying::of_entity(model, entity);
    all.into_iter().find(|own| own.original.name == entity.name && own.is_versioned())
}

impl<'m> Examples<'_, '_, 'm> {
    /// The seeded versions, by what they are versions of.
    fn histories(&self, copying: &Copying<'m>) -> BTreeMap<PairKey, History> {
        let entity = copying.original;
        let mut histories: BTreeMap<PairKey, History> = BTreeMap::new();
        for number in self.generator.numbers(entity).take(MAX_SEARCHED as usize) {
            let values = attributes(&self.generator.item(entity, number));
            let pair = copying.identity_of(entity, &[], &values);
            let version = version_of(entity, &values);
            histories.entry(pair).or_default().extend(version.map(|version| (version, values)));
        }
        histories
    }

    /// The histories that no other action is about.
    fn free_histories(&self, number: usize, copying: &Copying<'m>) -> Vec<History> {
        let mut histories = self.histories(copying);
        let others = self.chosen.iter().filter(|other| other.number != number);
        for other in others.filter(|other| other.entity.name == copying.original.name) {
            histories.remove(&copying.identity_of(other.entity, &[], &other.old));
        }
        histories.into_values().collect()
    }

    /// The version that an action changes or removes: with the copy of the newest, that one; alone, the oldest.
    pub fn version(
        &self,
        number: usize,
        action: &Action,
        entity: &'m Entity,
        turn: u64,
    ) -> Option<Attributes> {
        let copying = versioned(self.model, entity)?;
        let copies: Vec<Verb> = self.companions.copies(number).map(|copy| copy.verb).collect();
        let removes_copy = !copies.is_empty() && copies.iter().all(|verb| *verb == Verb::Delete);
        let shown = items_shown(self.model, self.write, action, entity) as usize;
        let wanted = match action.verb {
            Verb::Delete if removes_copy => shown..=shown,
            Verb::Delete => shown + 1..=usize::MAX,
            Verb::Update if !copies.is_empty() => 1..=usize::MAX,
            _ => return None,
        };
        let mut histories = self.free_histories(number, &copying);
        histories.sort_by_key(|history| !wanted.contains(&history.len()));
        let history = histories.into_iter().next()?;
        let turn = (turn as usize).min(history.len().saturating_sub(1));
        let mut versions = history.into_values();
        if copies.is_empty() { versions.nth(turn) } else { versions.nth_back(turn) }
    }

    /// The version before another one.
    pub fn former(&self, copying: &Copying<'m>, values: &Attributes) -> Option<Attributes> {
        let version = version_of(copying.original, values)?;
        let pair = copying.identity_of(copying.original, &[], values);
        self.histories(copying).remove(&pair)?.remove(&version.checked_sub(1)?)
    }

    /// A new version follows the newest one: of what other actions name, or of something that no other action is about.
    pub fn next_version(
        &self,
        number: usize,
        entity: &'m Entity,
        turn: u64,
        mut values: Attributes,
        given: &Attributes,
    ) -> Attributes {
        let (Some(version), Some(copying)) = (&entity.versions, versioned(self.model, entity)) else {
            return values;
        };
        let names = copying.copy.identifying();
        let newest = self.free_histories(number, &copying).into_iter();
        let mut newest: Vec<(u64, Attributes)> =
            newest.filter_map(|mut history| history.pop_last()).collect();
        let differs = |values: &Attributes| {
            given
                .iter()
                .any(|(name, value)| names.contains(&name.as_str()) && values.get(name) != Some(value))
        };
        newest.sort_by_key(|(_, values)| differs(values));
        if let Some((last, newest)) = newest.into_iter().next() {
            for name in names {
                values.extend(newest.get(name).map(|value| (name.to_owned(), value.clone())));
            }
            values.insert(version.clone(), (last + 1 + turn).to_string());
        }
        values
    }

    /// What a transaction that removes versions shows besides them: the copy of the newest, and that the version before is gone, or the newest.
    pub fn checks(&self) -> Vec<Check<'m>> {
        let removed = self.chosen.iter().filter(|example| example.action.verb == Verb::Delete);
        removed.flat_map(|example| self.checks_of(example)).collect()
    }

    fn checks_of(&self, example: &Example<'_, 'm>) -> Vec<Check<'m>> {
        let Some(copying) = versioned(self.model, example.entity) else { return Vec::new() };
        let copies: Vec<Verb> = self.companions.copies(example.number).map(|copy| copy.verb).collect();
        let mut checks = Vec::new();
        if copies.is_empty() {
            let copy = self.stored_copy(&copying, &example.old);
            checks.extend(copy.map(|values| Check { entity: copying.copy, values, exists: true }));
        }
        let before = version_of(example.entity, &example.old).map_or(0, |version| version.saturating_sub(1));
        if let Some(name) = example.entity.versions.as_ref().filter(|_| before > 0) {
            let mut values = self.former(&copying, &example.old).unwrap_or_else(|| example.old.clone());
            values.insert(name.clone(), before.to_string());
            let exists = copies.iter().any(|verb| *verb != Verb::Delete);
            checks.push(Check { entity: example.entity, values, exists });
        }
        checks
    }
}

fn version_of(entity: &Entity, values: &Attributes) -> Option<u64> {
    values.get(entity.versions.as_ref()?)?.parse().ok()
}
