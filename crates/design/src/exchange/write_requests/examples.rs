//! The items that the requests of a write show: those of `seed`, and new ones that follow them.

use crate::audit::aggregates::{Amount, Total, identity};
use crate::capacity::write_effects::items_of_action;
use crate::generate::{Generator, typed_item};
use crate::item::{Attributes, Item, attributes};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::decimal::Decimal;
use crate::model::value_type::ValueType;
use crate::model::{Action, Aggregate, Attribute, Entity, Model, Verb, Write};
use std::collections::{BTreeMap, BTreeSet};

/// The most items that stand for many.
const MANY: u64 = 3;
/// The number of generated items among which one is searched for.
const MAX_SEARCHED: u64 = 1_000;
/// How many values are drawn until one is new.
const MAX_DRAWN: u64 = 64;
/// How many levels of parents and originals are computed.
const DEPTH: u32 = 6;

/// An item that a write changes.
pub(super) struct Example<'w, 'm> {
    pub action: &'w Action,
    pub entity: &'m Entity,
    /// The item as it is before; of one that is created, as it will be.
    pub old: Attributes,
    pub new: Attributes,
    /// What an update adds to sums and counts.
    pub added: BTreeMap<String, Decimal>,
}

/// Returns how many items the requests of a write show for one of its actions.
pub fn items_shown(write: &Write, action: &Action, entity: &Entity) -> u64 {
    let expected = items_of_action(write, action, entity).average.round() as u64;
    if action.many { expected.clamp(2, MANY) } else { 1 }
}

/// Returns the items that a write changes.
pub(super) fn example_items<'w, 'm>(generator: &Generator<'m>, write: &'w Write) -> Vec<Example<'w, 'm>> {
    let mut examples = Examples { model: generator.model, generator, write, chosen: Vec::new() };
    for action in &write.actions {
        let Some(entity) = generator.model.entity(&action.entity) else { continue };
        for turn in 0..items_shown(write, action, entity) {
            let old = examples.choose(action, entity, turn);
            let is_update = action.verb == Verb::Update;
            let new = if is_update { examples.changed(action, entity, &old, turn) } else { old.clone() };
            examples.chosen.push(Example { action, entity, old, new, added: BTreeMap::new() });
        }
    }
    examples.aggregate();
    examples.chosen
}

struct Examples<'a, 'w, 'm> {
    model: &'m Model,
    generator: &'a Generator<'m>,
    write: &'w Write,
    /// What the actions so far write.
    chosen: Vec<Example<'w, 'm>>,
}

impl<'m> Examples<'_, '_, 'm> {
    /// The item that an action writes, as it is before.
    fn choose(&self, action: &Action, entity: &'m Entity, turn: u64) -> Attributes {
        if let Some(original) = self.original(entity, turn) {
            let mut values = self.generator.values(entity, turn, DEPTH);
            let exists = matches!(action.verb, Verb::Update | Verb::Delete);
            let source = if exists { &original.old } else { &original.new };
            values.retain(|name, _| !source.contains_key(name));
            let copied = source.iter().filter(|(name, _)| entity.attribute(name).is_some());
            values.extend(copied.map(|(name, value)| (name.clone(), value.clone())));
            return values;
        }
        let linked = self.linked(entity);
        if action.verb == Verb::Create {
            return self.created(entity, turn, linked);
        }
        let own = entity.identifying();
        let fits = |values: &Attributes| {
            linked
                .iter()
                .all(|(name, value)| !own.contains(&name.as_str()) || values.get(name) == Some(value))
                && has_what_is_tested(action, entity, values)
                && removed_index_keys(self.model, action).all(|key| values.contains_key(key))
        };
        // A transaction takes no two actions on one item.
        let chosen = self.chosen.iter().filter(|other| other.entity.name == entity.name);
        let taken: BTreeSet<_> = chosen.map(|other| self.key(entity, &other.old)).collect();
        let is_free = |values: &Attributes| !taken.contains(&self.key(entity, values));
        // A choice that changes is the first one before, as far as there is such an item.
        let begins = |values: &Attributes| {
            let changed = action.set.iter().filter_map(|name| entity.attribute(name));
            changed.into_iter().all(|attribute| match choices(attribute) {
                [first, ..] => values.get(&attribute.name) == Some(first),
                [] => true,
            })
        };
        let numbers = (turn..self.generator.numbered(entity)).take(MAX_SEARCHED as usize);
        let all = numbers.map(|number| attributes(&self.generator.item(entity, number)));
        let mut free = all.filter(is_free);
        let other = free.clone().next();
        let mut fitting = free.by_ref().filter(fits);
        let first = fitting.next();
        let begun = first.clone().filter(|values| begins(values)).or_else(|| fitting.find(begins));
        begun.or(first).or(other).unwrap_or_else(|| attributes(&self.generator.item(entity, turn)))
    }

    /// What the actions so far write of the entity whose values this one copies: the item of the same turn, or the first.
    fn original(&self, entity: &Entity, turn: u64) -> Option<&Example<'_, 'm>> {
        let original = entity.copies.as_deref();
        let mut originals = self.chosen.iter().filter(|other| Some(other.entity.name.as_str()) == original);
        let first = originals.next()?;
        let later = usize::try_from(turn).ok()?.checked_sub(1);
        Some(later.and_then(|number| originals.nth(number)).unwrap_or(first))
    }

    /// Identifiers that earlier actions use: they lead to the items that belong to them.
    fn linked(&self, entity: &Entity) -> Attributes {
        let others = self.chosen.iter().filter(|other| other.entity.name != entity.name);
        let is_link = |name: &str| self.model.owner_of(name).is_some() && entity.attribute(name).is_some();
        let values = others.flat_map(|other| &other.new).filter(|(name, _)| is_link(name));
        values.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// An item that does not exist yet.
    fn created(&self, entity: &'m Entity, turn: u64, linked: Attributes) -> Attributes {
        let is_other =
            |name: &String| self.model.owner_of(name).is_some_and(|owner| owner.name != entity.name);
        let linked: Attributes = linked.into_iter().filter(|(name, _)| is_other(name)).collect();
        // Under a parent that exists, an item may have been seeded as well.
        let count = if linked.is_empty() { 0 } else { self.generator.numbered(entity) };
        let seeded = (0..count).map(|number| self.generator.values(entity, number, DEPTH));
        let mut taken: BTreeSet<Vec<Option<String>>> =
            seeded.map(|values| self.key(entity, &values)).collect();
        let own = self.chosen.iter().filter(|other| other.entity.name == entity.name);
        taken.extend(own.map(|other| self.key(entity, &other.new)));
        let new = |number: u64| {
            let mut values = self.generator.values(entity, number, DEPTH);
            values.extend(linked.clone());
            values.extend(entity.lock.iter().map(|lock| (lock.clone(), "1".to_owned())));
            self.next_version(entity, self.begun(entity, values))
        };
        let first = self.generator.numbered(entity) + turn;
        let mut all = (first..).take(MAX_DRAWN as usize).map(new);
        all.find(|values| !taken.contains(&self.key(entity, values))).unwrap_or_else(|| new(first))
    }

    /// The primary key of an item.
    fn key(&self, entity: &'m Entity, values: &Attributes) -> Vec<Option<String>> {
        let item = self.generator.item_of(entity, values.clone(), 0);
        self.model.table.keys.iter().map(|name| item.get(name)?.to_text()).collect()
    }

    /// Gives a new item the first of all choices, a place in every index, and what only those aggregates count that the write updates.
    fn begun(&self, entity: &'m Entity, mut values: Attributes) -> Attributes {
        for attribute in entity.attributes.iter().filter(|own| !entity.has_key_field(&own.name)) {
            let first = choices(attribute).first().filter(|_| values.contains_key(&attribute.name));
            values.extend(first.map(|first| (attribute.name.clone(), first.clone())));
        }
        for mapping in TableOrIndex::all(self.model).into_iter().filter_map(|place| place.mapping(entity)) {
            let is_there = |values: &Attributes| mapping.includes(values);
            values = self.varied(entity, values, mapping.when.attributes(), is_there);
        }
        for parent in &self.model.entities {
            for aggregate in parent.aggregates.iter().filter(|aggregate| aggregate.of == entity.name) {
                let is_updated = self.updates(parent, aggregate);
                let is_right = |values: &Attributes| {
                    aggregate.contribution(entity, &typed_item(entity, values), values).is_some()
                        == is_updated
                };
                values = self.varied(entity, values, aggregate.filter.attributes(), is_right);
            }
        }
        values
    }

    fn updates(&self, parent: &Entity, aggregate: &Aggregate) -> bool {
        let mut own = self.write.actions.iter().filter(|action| action.entity == parent.name);
        own.any(|action| action.verb != Verb::Update || action.set.contains(&aggregate.name))
    }

    /// Changes one of these attributes so that an item is as wanted, if that is possible.
    fn varied(
        &self,
        entity: &Entity,
        values: Attributes,
        names: BTreeSet<&str>,
        is_wanted: impl Fn(&Attributes) -> bool,
    ) -> Attributes {
        if is_wanted(&values) {
            return values;
        }
        let free = names.into_iter().filter(|name| !entity.has_key_field(name));
        let attributes = free.filter_map(|name| entity.attribute(name));
        let other = |(attribute, value): (&Attribute, Option<String>)| {
            let mut other = values.clone();
            match value {
                Some(value) => _ = other.insert(attribute.name.clone(), value),
                None => _ = other.remove(&attribute.name),
            }
            other
        };
        let mut others = attributes
            .flat_map(|attribute| {
                self.values_of(entity, attribute).into_iter().map(move |one| (attribute, one))
            })
            .map(other);
        others.find(is_wanted).unwrap_or(values)
    }

    /// Values that an attribute can have; `None` if it can be absent.
    fn values_of(&self, entity: &Entity, attribute: &Attribute) -> Vec<Option<String>> {
        let drawn = match &attribute.kind {
            ValueType::Choice(choices) => choices.to_vec(),
            ValueType::Bool => ["true", "false"].map(str::to_owned).to_vec(),
            _ => self.drawn(entity, &attribute.name).collect(),
        };
        drawn.into_iter().map(Some).chain(attribute.optional.then_some(None)).collect()
    }

    /// Values of an attribute in items that no write creates.
    fn drawn<'b>(&'b self, entity: &'b Entity, name: &'b str) -> impl Iterator<Item = String> + 'b {
        let numbers = (self.generator.numbered(entity) + MANY..).take(MAX_DRAWN as usize);
        numbers.filter_map(move |number| self.generator.values(entity, number, DEPTH).remove(name))
    }

    /// A new version follows the newest one.
    fn next_version(&self, entity: &Entity, mut values: Attributes) -> Attributes {
        let latest =
            self.model.copies_of(&entity.name).find(|copy| self.model.versioned_original(copy).is_some());
        if let (Some(version), Some(latest)) = (&entity.versions, latest) {
            let newest = attributes(&self.generator.item(latest, 0));
            for name in latest.identifying() {
                values.extend(newest.get(name).map(|value| (name.to_owned(), value.clone())));
            }
            let next = newest.get(version).and_then(|text| text.parse().ok()).unwrap_or(0_u64) + 1;
            values.insert(version.clone(), next.to_string());
        }
        values
    }

    /// The attributes after an update, without its aggregates.
    fn changed(&self, action: &Action, entity: &Entity, old: &Attributes, turn: u64) -> Attributes {
        let original = self.original(entity, turn);
        let mut new = old.clone();
        let is_aggregate = |name: &String| entity.aggregates.iter().any(|aggregate| aggregate.name == *name);
        for name in action.set.iter().filter(|name| !is_aggregate(name)) {
            let value = match original {
                Some(original) => original.new.get(name).cloned(),
                None => entity.attribute(name).and_then(|own| self.next_value(entity, own, old.get(name))),
            };
            new.extend(value.map(|value| (name.clone(), value)));
        }
        let removed = action.expression.iter().flat_map(|expression| &expression.changes);
        for change in removed.filter(|change| change.removes()) {
            new.remove(&change.path.attribute);
        }
        if let Some(lock) = &entity.lock {
            let version = old.get(lock).and_then(|text| text.parse().ok()).unwrap_or(0_u64);
            new.insert(lock.clone(), (version + 1).to_string());
        }
        new
    }

    /// The value to which an update changes an attribute: another one, of choices the next.
    fn next_value(&self, entity: &Entity, attribute: &Attribute, old: Option<&String>) -> Option<String> {
        let place = choices(attribute).iter().position(|choice| Some(choice) == old);
        match &attribute.kind {
            ValueType::Choice(choices) => {
                choices.get(place.map_or(0, |place| place + 1)).or(choices.first()).cloned()
            }
            ValueType::Bool => Some((old.map(String::as_str) != Some("true")).to_string()),
            _ => self.drawn(entity, &attribute.name).find(|value| Some(value) != old),
        }
    }

    /// Brings the aggregates up to date that the write keeps, whatever the order of its actions.
    fn aggregate(&mut self) {
        for number in 0..self.chosen.len() {
            let own = &self.chosen[number];
            let is_kept = |aggregate: &&'m Aggregate| match own.action.verb {
                Verb::Update => own.action.set.contains(&aggregate.name),
                Verb::Create | Verb::Put => self.children(aggregate).next().is_some(),
                Verb::Delete => false,
            };
            let kept: Vec<&'m Aggregate> = own.entity.aggregates.iter().filter(is_kept).collect();
            for aggregate in kept {
                self.keep(number, aggregate);
            }
        }
    }

    fn keep(&mut self, number: usize, aggregate: &'m Aggregate) {
        let own = &self.chosen[number];
        let stored = own.old.get(&aggregate.name).filter(|_| own.action.verb != Verb::Create);
        let value = if aggregate.function.is_additive() {
            let added = self.added(own, aggregate);
            let stored = stored.and_then(|text| Decimal::parse(text)).unwrap_or_default();
            let total = stored.plus(&added).to_string();
            self.chosen[number].added.insert(aggregate.name.clone(), added);
            Some(total)
        } else {
            self.extreme(own, aggregate, stored)
        };
        self.chosen[number].new.extend(value.map(|value| (aggregate.name.clone(), value)));
    }

    /// What the write changes of that which an aggregate summarises.
    fn children(&self, aggregate: &Aggregate) -> impl Iterator<Item = &Example<'_, 'm>> {
        self.chosen.iter().filter(|other| other.entity.name == aggregate.of)
    }

    /// What the write adds to a sum or a count.
    fn added(&self, parent: &Example<'_, '_>, aggregate: &Aggregate) -> Decimal {
        let before = self.children(aggregate).filter(|child| child.existed());
        let before = before.filter_map(|child| counted(parent, aggregate, child.entity, &child.old));
        let after = self.children(aggregate).filter(|child| child.action.verb != Verb::Delete);
        let after = after.filter_map(|child| counted(parent, aggregate, child.entity, &child.new));
        let added = after.filter_map(|amount| amount.number().cloned());
        let removed = before.filter_map(|amount| Some(amount.number()?.negated()));
        added.chain(removed).fold(Decimal::default(), |sum, amount| sum.plus(&amount))
    }

    /// The least or greatest value after the write.
    fn extreme(
        &self,
        parent: &Example<'_, '_>,
        aggregate: &Aggregate,
        stored: Option<&String>,
    ) -> Option<String> {
        let child = self.children(aggregate).next()?.entity;
        let stored = stored.and_then(|text| {
            let values = [(aggregate.attribute.clone(), text.clone())].into();
            Amount::of(child, &Item::new(), &values, &aggregate.attribute)
        });
        let after = self.children(aggregate).filter(|child| child.action.verb != Verb::Delete);
        let after = after.filter_map(|child| counted(parent, aggregate, child.entity, &child.new));
        let amounts: Vec<Amount> = after.chain(stored).collect();
        Total::of(aggregate, &amounts).map(|best| best.to_string())
    }
}

impl Example<'_, '_> {
    fn existed(&self) -> bool {
        matches!(self.action.verb, Verb::Update | Verb::Delete)
    }
}

/// What an item adds to an aggregate of a parent; `None` if it belongs to another one, or does not count.
fn counted(
    parent: &Example<'_, '_>,
    aggregate: &Aggregate,
    child: &Entity,
    values: &Attributes,
) -> Option<Amount> {
    let item = typed_item(child, values);
    let named = identity(parent.entity, child, &item, values);
    let own = identity(parent.entity, parent.entity, &Item::new(), &parent.old);
    aggregate.contribution(child, &item, values).filter(|_| named == own)
}

fn choices(attribute: &Attribute) -> &[String] {
    match &attribute.kind {
        ValueType::Choice(choices) => choices,
        _ => &[],
    }
}

/// The index keys that an update removes: the item has them before.
fn removed_index_keys<'a>(model: &'a Model, action: &'a Action) -> impl Iterator<Item = &'a str> {
    let changes = action.expression.iter().flat_map(|expression| &expression.changes);
    let removed = changes.filter(|change| change.removes()).map(|change| change.path.attribute.as_str());
    removed.filter(|name| model.indexes.iter().any(|index| index.keys.iter().any(|key| key == name)))
}

/// Whether an item has the attributes that the condition of a write tests.
fn has_what_is_tested(action: &Action, entity: &Entity, values: &Attributes) -> bool {
    let tested = action.condition.iter().flat_map(|condition| condition.attributes());
    tested.filter(|name| entity.attribute(name).is_some()).all(|name| values.contains_key(name))
}
