//! Attributes a request to a declared write, by the entities that it puts, updates and deletes.

use crate::audit::{EntityWrite, ItemChange};
use crate::model::{Entity, Model, Verb, Write};
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of items that are put, updated and deleted, by verb and entity.
type Counts<'w> = BTreeMap<(&'static str, &'w str), usize>;

/// Returns the name of the declared write that makes these changes, in a transaction or not. Markers and copies come with the items they
/// belong to: a declared write need not name them, and a write that has any is sent as a transaction. Among several, the one that sets just these
/// attributes of as many items.
pub fn attribute_write<'m>(
    model: &'m Model,
    written: &[EntityWrite<'_>],
    transaction: bool,
) -> Option<&'m str> {
    let mut done = Counts::new();
    for write in written {
        *done.entry((verb(&write.change), write.entity.name.as_str())).or_default() += 1;
    }
    let originals: BTreeSet<&str> = done.keys().map(|(_, entity)| *entity).collect();
    let follows = |write: &EntityWrite<'_>| {
        write.entity.copies.as_deref().is_some_and(|original| originals.contains(original))
    };
    let copies: BTreeSet<&str> =
        written.iter().filter(|write| follows(write)).map(|write| write.entity.name.as_str()).collect();
    let has_copies = |write: &EntityWrite<'_>| model.copies_of(&write.entity.name).next().is_some();
    let mut companions = written.iter().filter(|write| has_copies(write) || !write.entity.unique.is_empty());
    let has_companions = !copies.is_empty() || companions.next().is_some();
    // A copy that moves is deleted under its old key.
    let is_moved = |counts: &Counts<'_>, (verb, entity): (&str, &str)| {
        verb == "delete" && copies.contains(entity) && counts.contains_key(&("put", entity))
    };
    let fits = |write: &&Write| {
        let actions = counts_of(write);
        let is_named = |name: &str| actions.keys().any(|(_, entity)| *entity == name);
        let wanted = done.keys().filter(|(_, name)| !copies.contains(name) || is_named(name));
        let wanted = wanted.filter(|place| !is_moved(&done, **place));
        (write.transact == transaction || (transaction && has_companions))
            && wanted.eq(actions.keys().filter(|place| !is_moved(&actions, **place)))
    };
    let updates = Updates::of(model, written);
    let rank =
        |write: &&Write| (counts_apart(write, &done), updates.apart(write), write.transact != transaction);
    model
        .writes
        .iter()
        .filter(fits)
        .filter(|write| updates.are_declared(write))
        .min_by_key(rank)
        .map(|write| write.name.as_str())
}

fn counts_of(write: &Write) -> Counts<'_> {
    let mut counts = Counts::new();
    for action in &write.actions {
        *counts.entry((declared_verb(action.verb), action.entity.as_str())).or_default() += 1;
    }
    counts
}

/// By how many items a declared write and a request differ.
fn counts_apart(write: &Write, done: &Counts<'_>) -> usize {
    let is_many = |(verb, entity): (&str, &str)| {
        let mut many = write.actions.iter().filter(|action| action.many);
        many.any(|action| declared_verb(action.verb) == verb && action.entity == entity)
    };
    let counts = counts_of(write).into_iter().filter(|(place, _)| !is_many(*place));
    counts.map(|(place, count)| done.get(&place).map_or(0, |done| done.abs_diff(count))).sum()
}

/// The attributes that a request sets, and those that declared updates set, by entity; keys, the type and the version are not counted.
struct Updates<'m, 'w> {
    set: BTreeMap<&'w str, BTreeSet<&'w str>>,
    declared: BTreeMap<&'w str, BTreeSet<&'m str>>,
}

impl<'m, 'w> Updates<'m, 'w> {
    fn of(model: &'m Model, written: &'w [EntityWrite<'_>]) -> Updates<'m, 'w> {
        let (mut set, mut declared) = (BTreeMap::new(), BTreeMap::new());
        for write in written {
            let ItemChange::Update(names) = &write.change else { continue };
            let entity = write.entity;
            let names = names.iter().map(String::as_str).filter(|name| !is_implied(model, entity, name));
            set.entry(entity.name.as_str()).or_insert_with(BTreeSet::new).extend(names);
            declared.entry(entity.name.as_str()).or_insert_with(|| {
                model.writes.iter().flat_map(|write| declared_names(write, &entity.name)).collect()
            });
        }
        Updates { set, declared }
    }

    /// The entities that a declared write and the request update.
    fn shared(&self, write: &Write) -> impl Iterator<Item = (&'w str, &BTreeSet<&'w str>)> {
        let is_updated = |name: &str| {
            write.actions.iter().any(|action| action.verb == Verb::Update && action.entity == name)
        };
        self.set.iter().filter(move |(name, _)| is_updated(name)).map(|(name, set)| (*name, set))
    }

    /// Whether some declared update sets each attribute.
    fn are_declared(&self, write: &Write) -> bool {
        self.shared(write).all(|(name, set)| {
            self.declared.get(name).is_some_and(|declared| set.iter().all(|own| declared.contains(own)))
        })
    }

    /// How many attributes only the request sets, and how many only the declared write.
    fn apart(&self, write: &Write) -> (usize, usize) {
        let apart = |(name, set): (&str, &BTreeSet<&str>)| {
            let declared: BTreeSet<&str> = declared_names(write, name).collect();
            let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| {
                one.iter().filter(|name| !other.contains(*name)).count()
            };
            (only(set, &declared), only(&declared, set))
        };
        let sum = |all: (usize, usize), one: (usize, usize)| (all.0 + one.0, all.1 + one.1);
        self.shared(write).map(apart).fold((0, 0), sum)
    }
}

/// The attributes that a declared write sets or removes by updates of an entity.
fn declared_names<'m>(write: &'m Write, entity: &str) -> impl Iterator<Item = &'m str> {
    let updates =
        write.actions.iter().filter(move |action| action.verb == Verb::Update && action.entity == entity);
    updates.flat_map(|action| {
        let touched = action.expression.iter().flat_map(|expression| expression.touched());
        action.set.iter().map(String::as_str).chain(touched)
    })
}

/// Whether an attribute is set because others are.
fn is_implied(model: &Model, entity: &Entity, name: &str) -> bool {
    let mut keys = model.table.keys.iter().chain(model.indexes.iter().flat_map(|index| &index.keys));
    let is_own = entity.attribute(name).is_some();
    (!is_own && (keys.any(|key| key == name) || model.table.type_attribute.as_deref() == Some(name)))
        || [&entity.lock, &entity.versions].into_iter().any(|own| own.as_deref() == Some(name))
}

fn verb(change: &ItemChange) -> &'static str {
    match change {
        ItemChange::Put => "put",
        ItemChange::Update(_) => "update",
        ItemChange::Delete => "delete",
    }
}

fn declared_verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create | Verb::Put => "put",
        Verb::Update => "update",
        Verb::Delete => "delete",
    }
}
