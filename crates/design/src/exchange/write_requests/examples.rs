//! The items that the requests of a write show: those of `seed`, and new ones that follow them.

use super::companions::Companions;
use super::placeholders::can_hold;
use crate::audit::aggregates::{Amount, Total, identity};
use crate::audit::marker;
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
pub(super) const MAX_SEARCHED: u64 = 1_000;
/// How many values are drawn until one is new.
const MAX_DRAWN: u64 = 64;
/// How many levels of parents and originals are computed.
pub(super) const DEPTH: u32 = 6;

/// An item that a write changes.
pub(super) struct Example<'w, 'm> {
    /// The number of the action in its write.
    pub number: usize,
    pub action: &'w Action,
    pub entity: &'m Entity,
    /// The item as it is before; of one that is created, as it will be.
    pub old: Attributes,
    pub new: Attributes,
    /// The copy that one takes the place of, be it under another key.
    pub replaced: Option<Attributes>,
    /// What an update adds to sums and counts.
    pub added: BTreeMap<String, Decimal>,
}

/// Returns how many items the requests of a write show for one of its actions.
pub fn items_shown(model: &Model, write: &Write, action: &Action, entity: &Entity) -> u64 {
    let expected = items_of_action(model, write, action, entity).average.round() as u64;
    if action.many { expected.clamp(2, MANY) } else { 1 }
}

/// How many items of an entity some writes create.
fn created_by<'w>(model: &Model, writes: impl Iterator<Item = &'w Write>, entity: &Entity) -> u64 {
    let creates = |action: &&Action| action.verb == Verb::Create && action.entity == entity.name;
    let by_write = |write: &Write| -> u64 {
        write.actions.iter().filter(creates).map(|action| items_shown(model, write, action, entity)).sum()
    };
    writes.map(by_write).sum()
}

/// The items that a write changes, in the order of its actions.
pub(super) struct Examples<'a, 'w, 'm> {
    pub model: &'m Model,
    pub generator: &'a Generator<'m>,
    pub write: &'w Write,
    pub companions: Companions<'w>,
    /// What the actions so far write.
    pub chosen: Vec<Example<'w, 'm>>,
}

impl<'a, 'w, 'm> Examples<'a, 'w, 'm> {
    pub fn of(generator: &'a Generator<'m>, write: &'w Write) -> Examples<'a, 'w, 'm> {
        let (model, companions) = (generator.model, Companions::of(generator.model, write));
        let mut examples = Examples { model, generator, write, companions, chosen: Vec::new() };
        for (number, action) in examples.companions.in_order_of_choice() {
            let Some(entity) = model.entity(&action.entity) else { continue };
            for turn in 0..items_shown(model, write, action, entity) {
                let example = examples.example(number, action, entity, turn);
                examples.chosen.push(example);
            }
        }
        examples.chosen.sort_by_key(|example| example.number);
        examples.aggregate();
        examples
    }

    /// The item that an action writes.
    fn example(&self, number: usize, action: &'w Action, entity: &'m Entity, turn: u64) -> Example<'w, 'm> {
        let original = self.original(number, entity, turn);
        let (old, replaced) = match original {
            Some(original) => self.copied(action, entity, turn, original),
            None => (self.chosen_item(number, action, entity, turn), None),
        };
        let is_update = action.verb == Verb::Update;
        let new = if is_update { self.changed(action, entity, &old, original) } else { old.clone() };
        Example { number, action, entity, old, new, replaced, added: BTreeMap::new() }
    }

    /// The item that an action writes, as it is before; of one that is created, as it will be.
    fn chosen_item(&self, number: usize, action: &Action, entity: &'m Entity, turn: u64) -> Attributes {
        if let Some(version) = self.version(number, action, entity, turn) {
            return version;
        }
        let (linked, bound) = (self.linked(number, entity), self.bound(number, entity));
        if action.verb == Verb::Create {
            return self.created(number, entity, turn, &linked, &bound);
        }
        let own = entity.identifying();
        let fits = |values: &Attributes| {
            let agrees = |(name, value): (&String, &String)| values.get(name) == Some(value);
            linked.iter().filter(|(name, _)| own.contains(&name.as_str())).all(agrees)
                && bound.iter().all(agrees)
                && self.meets_condition(action, entity, values)
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

    /// Identifiers that earlier actions use: they lead to the items that belong to them.
    fn linked(&self, number: usize, entity: &Entity) -> Attributes {
        let others = self.chosen.iter().filter(|other| {
            other.entity.name != entity.name
                && self.go_together((number, entity), (other.number, other.entity))
        });
        let is_link = |name: &str| self.model.owner_of(name).is_some() && entity.attribute(name).is_some();
        let values = others.flat_map(|other| &other.new).filter(|(name, _)| is_link(name));
        values.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// An item that does not exist yet: if possible, one that other actions name.
    fn created(
        &self,
        number: usize,
        entity: &'m Entity,
        turn: u64,
        linked: &Attributes,
        bound: &Attributes,
    ) -> Attributes {
        let is_other =
            |name: &String| self.model.owner_of(name).is_some_and(|owner| owner.name != entity.name);
        let named: Attributes =
            linked.iter().chain(bound).map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut others = named.clone();
        others.retain(|name, _| is_other(name) || bound.contains_key(name));
        let seeded =
            (0..self.generator.numbered(entity)).map(|item| self.generator.values(entity, item, DEPTH));
        let mut taken: BTreeSet<_> = seeded.flat_map(|values| self.keys(entity, &values)).collect();
        let own = self.chosen.iter().filter(|other| other.entity.name == entity.name);
        taken.extend(own.flat_map(|other| self.keys(entity, &other.new)));
        let is_free = |values: &Attributes| self.keys(entity, values).iter().all(|key| !taken.contains(key));
        let new = |(item, given, is_apart): (u64, &Attributes, bool)| {
            let mut values = self.generator.values(entity, item, DEPTH);
            if is_apart {
                values.extend(self.generator.values_of_new_owners(entity, item));
            }
            values.extend(given.clone());
            values.extend(entity.lock.iter().map(|lock| (lock.clone(), "1".to_owned())));
            self.next_version(number, entity, turn, self.begun(entity, values), given)
        };
        // What writes before this one create exists if they are sent one after another.
        let earlier = self.model.writes.iter().take_while(|earlier| earlier.name != self.write.name);
        let first = self.generator.numbered(entity) + created_by(self.model, earlier, entity) + turn;
        let items = || first..first.saturating_add(MAX_DRAWN);
        let named = items().map(|item| (item, &named, false)).take(if named == others { 0 } else { 1 });
        let under_existing = items().map(|item| (item, &others, false));
        let under_new = items().map(|item| (item, &others, true));
        let mut all = named.chain(under_existing).chain(under_new).map(new);
        all.find(is_free).unwrap_or_else(|| new((first, &others, false)))
    }

    /// The primary keys of an item and of the markers of its unique values.
    fn keys(&self, entity: &'m Entity, values: &Attributes) -> Vec<Vec<Option<String>>> {
        let markers = entity.unique.iter().filter_map(|unique| marker(entity, unique, values));
        markers.map(|key| vec![Some(key)]).chain([self.key(entity, values)]).collect()
    }

    /// The primary key of an item.
    pub fn key(&self, entity: &'m Entity, values: &Attributes) -> Vec<Option<String>> {
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
        let values = other_values(self.generator, entity, &attribute.name);
        values.into_iter().map(Some).chain(attribute.optional.then_some(None)).collect()
    }

    /// Whether the condition of a write can hold for an item.
    fn meets_condition(&self, action: &Action, entity: &'m Entity, values: &Attributes) -> bool {
        let Some(condition) = &action.condition else { return true };
        let item = self.generator.item_of(entity, values.clone(), 0);
        let others = |name: &str| other_values(self.generator, entity, name);
        can_hold(condition, action, entity, &item, &others)
    }

    /// The attributes after an update, without its aggregates.
    fn changed(
        &self,
        action: &Action,
        entity: &Entity,
        old: &Attributes,
        original: Option<&Example<'_, 'm>>,
    ) -> Attributes {
        let mut new = old.clone();
        let is_aggregate = |name: &String| entity.aggregates.iter().any(|aggregate| aggregate.name == *name);
        for name in action.set.iter().filter(|name| !is_aggregate(name)) {
            let value = match original {
                Some(original) => original.new.get(name).cloned(),
                None => action.declared_value(name).map(str::to_owned).or_else(|| {
                    entity.attribute(name).and_then(|own| self.next_value(entity, own, old.get(name)))
                }),
            };
            match value {
                Some(value) => _ = new.insert(name.clone(), value),
                // What its original lacks, a copy lacks too.
                None if original.is_some() => _ = new.remove(name),
                None => {}
            }
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
            _ => drawn(self.generator, entity, &attribute.name).find(|value| Some(value) != old),
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
    pub fn existed(&self) -> bool {
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

/// Values that an attribute can have, besides those of the items that are seeded.
pub(super) fn other_values(generator: &Generator<'_>, entity: &Entity, name: &str) -> Vec<String> {
    match entity.attribute(name).map(|attribute| &attribute.kind) {
        Some(ValueType::Choice(choices)) => choices.to_vec(),
        Some(ValueType::Bool) => ["true", "false"].map(str::to_owned).to_vec(),
        _ => drawn(generator, entity, name).collect(),
    }
}

/// Values of an attribute in items that no write creates.
fn drawn<'b>(
    generator: &'b Generator<'_>,
    entity: &'b Entity,
    name: &'b str,
) -> impl Iterator<Item = String> + 'b {
    let created = created_by(generator.model, generator.model.writes.iter(), entity);
    let numbers = (generator.numbered(entity) + created.max(MANY)..).take(MAX_DRAWN as usize);
    numbers.filter_map(move |number| generator.values(entity, number, DEPTH).remove(name))
}
