//! Which actions of a write go together: a copy is that of the original which the write changes in the same way, and what summarises items is
//! updated for those before it.

use super::examples::{Example, Examples};
use crate::audit::copying::Copying;
use crate::item::{Attributes, attributes};
use crate::model::{Action, Entity, Model, Verb, Write};

/// The actions of a write, and for each action on a copy the number of that on its original.
pub(super) struct Companions<'w> {
    actions: &'w [Action],
    originals: Vec<Option<usize>>,
}

/// What an action does to the item of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Comes,
    Changes,
    Goes,
}

fn outcome(verb: Verb) -> Outcome {
    match verb {
        Verb::Create | Verb::Put => Outcome::Comes,
        Verb::Update => Outcome::Changes,
        Verb::Delete => Outcome::Goes,
    }
}

impl<'w> Companions<'w> {
    pub fn of(model: &Model, write: &'w Write) -> Companions<'w> {
        let mut companions = Companions { actions: &write.actions, originals: Vec::new() };
        for number in 0..write.actions.len() {
            let original = companions.find_original(model, number);
            companions.originals.push(original);
        }
        companions
    }

    /// One that does the same, that no earlier copy belongs to, and that stands before the copy, as near as possible.
    fn find_original(&self, model: &Model, number: usize) -> Option<usize> {
        let own = &self.actions[number];
        let name = model.entity(&own.entity)?.copies.as_deref()?;
        let is_alike = |other: &Action| outcome(other.verb) == outcome(own.verb);
        let is_taken = |original: usize| {
            let mut earlier = self.actions.iter().zip(&self.originals);
            earlier
                .any(|(other, its)| *its == Some(original) && other.entity == own.entity && is_alike(other))
        };
        let originals = self.actions.iter().enumerate().filter(|(_, other)| other.entity == name);
        let rank = |(place, other): &(usize, &Action)| {
            (!is_alike(other), is_taken(*place), *place > number, place.abs_diff(number))
        };
        originals.min_by_key(rank).map(|(place, _)| place)
    }

    /// The actions with their numbers: those on copies after those on their originals, and what is created after the items that exist, since it can
    /// belong to any of them.
    pub fn in_order_of_choice(&self) -> Vec<(usize, &'w Action)> {
        let next = |number: &usize| self.originals.get(*number).copied().flatten();
        let depth =
            |number: usize| std::iter::successors(Some(number), next).take(self.actions.len() + 1).count();
        let mut all: Vec<(usize, &Action)> = self.actions.iter().enumerate().collect();
        all.sort_by_key(|(number, action)| (depth(*number), action.verb == Verb::Create));
        all
    }

    /// The actions on copies of what an action writes.
    pub fn copies(&self, number: usize) -> impl Iterator<Item = &'w Action> {
        let copies = self.actions.iter().zip(&self.originals);
        copies.filter(move |(_, original)| **original == Some(number)).map(|(action, _)| action)
    }

    /// The action on what summarises the items of an action: the next one, or the last; where such an action comes before all items, the one
    /// that the items follow.
    fn summary(&self, number: usize, parent: &Entity) -> Option<usize> {
        let place = |entity: &str| self.actions.iter().position(|action| action.entity == entity);
        let parents = || (0..self.actions.len()).filter(|place| self.actions[*place].entity == parent.name);
        let follows = place(&parent.name)? < place(&self.actions[number].entity)?;
        let near = match follows {
            true => parents().rfind(|place| *place < number),
            false => parents().find(|place| *place > number),
        };
        near.or_else(|| parents().last())
    }
}

impl<'w, 'm> Examples<'_, 'w, 'm> {
    /// What is written of the original of a copy: the item of the same turn, or the first; of versions, the last.
    pub fn original(&self, number: usize, copy: &Entity, turn: u64) -> Option<&Example<'w, 'm>> {
        let action = self.companions.originals.get(number).copied().flatten()?;
        let mut originals = self.chosen.iter().filter(|other| other.number == action);
        if self.model.versioned_original(copy).is_some() {
            return originals.next_back();
        }
        let first = originals.next()?;
        let later = usize::try_from(turn).ok()?.checked_sub(1);
        Some(later.and_then(|number| originals.nth(number)).unwrap_or(first))
    }

    /// The copy of an original: the item that an action writes, as it is before or will be, and what this takes the place of.
    pub fn copied(
        &self,
        action: &Action,
        entity: &'m Entity,
        turn: u64,
        original: &Example<'w, 'm>,
    ) -> (Attributes, Option<Attributes>) {
        let made_of = |source: &Attributes| {
            let mut values = self.generator.values(entity, turn, super::examples::DEPTH);
            values.retain(|name, _| original.entity.attribute(name).is_none());
            let copied = source.iter().filter(|(name, _)| entity.attribute(name).is_some());
            values.extend(copied.map(|(name, value)| (name.clone(), value.clone())));
            values
        };
        let copying = Copying::of_copy(self.model, entity).filter(Copying::is_versioned);
        let stored = match &copying {
            Some(copying) => self.stored_copy(copying, &original.old),
            None => original.existed().then(|| made_of(&original.old)),
        };
        let is_undone = original.action.verb == Verb::Delete && outcome(action.verb) != Outcome::Goes;
        let former = copying.filter(|_| is_undone).and_then(|copying| self.former(&copying, &original.old));
        let after = made_of(former.as_ref().unwrap_or(&original.new));
        match action.verb {
            Verb::Create | Verb::Put => (after, stored),
            Verb::Update | Verb::Delete => (stored.unwrap_or(after), None),
        }
    }

    /// The copy of the newest version, as it is seeded.
    pub fn stored_copy(&self, copying: &Copying<'m>, version: &Attributes) -> Option<Attributes> {
        let numbers = self.generator.numbers(copying.copy).take(super::examples::MAX_SEARCHED as usize);
        let mut all = numbers.map(|number| attributes(&self.generator.item(copying.copy, number)));
        let pair = copying.identity_of(copying.original, &[], version);
        all.find(|values| copying.identity_of(copying.copy, &[], values) == pair)
    }

    /// Whether two actions may be about the same things: what summarises items, only with its own.
    pub fn go_together(&self, one: (usize, &Entity), other: (usize, &Entity)) -> bool {
        let is_own = |(number, child): (usize, &Entity), (parent_number, parent): (usize, &Entity)| {
            !summarises(parent, child) || self.companions.summary(number, parent) == Some(parent_number)
        };
        is_own(one, other) && is_own(other, one)
    }

    /// The identifiers that an item shares with what summarises it, and with the other items that the same action there is for.
    pub fn bound(&self, number: usize, entity: &Entity) -> Attributes {
        let mut bound = Attributes::new();
        for parent in self.model.entities.iter().filter(|parent| summarises(parent, entity)) {
            let Some(summary) = self.companions.summary(number, parent) else { continue };
            let is_with = |other: &&Example<'_, '_>| {
                let is_sibling = other.entity.name == entity.name;
                other.number == summary
                    || (is_sibling && self.companions.summary(other.number, parent) == Some(summary))
            };
            let Some(other) = self.chosen.iter().find(is_with) else { continue };
            let names = parent.identifying().into_iter().filter(|name| entity.attribute(name).is_some());
            bound.extend(names.filter_map(|name| Some((name.to_owned(), other.new.get(name)?.clone()))));
        }
        bound
    }
}

fn summarises(parent: &Entity, child: &Entity) -> bool {
    parent.aggregates.iter().any(|aggregate| aggregate.of == child.name)
}
