//! Generates realistic items from a model: any number, reproducible by seed, each computed independently.
//!
//! The values of an item depend only on the seed, its entity and its number. A child takes its parent's identifier, a copy its original's
//! values; choices and times are drawn. The keys are then filled in by the templates, as an application would do it.

mod values;

use crate::audit::marker;
use crate::capacity::estimate;
use crate::item::{Attributes, Item, Value, item_size};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model};
use crate::random::{at, hash};
use crate::template::{SHARD, Template};
use std::collections::BTreeMap;
use values::{WORDS, plain_value};

/// Generates items from a model.
pub struct Generator<'m> {
    model: &'m Model,
    seed: u64,
    counts: BTreeMap<String, u64>,
}

impl<'m> Generator<'m> {
    /// Creates a generator of about `total` items, distributed as the model expects.
    pub fn new(model: &'m Model, seed: u64, total: u64) -> Generator<'m> {
        let expected: Vec<f64> = model.entities.iter().map(|entity| estimate::count(model, entity)).collect();
        let sum: f64 = expected.iter().sum::<f64>().max(1.0);
        let scale = total as f64 / sum;
        // A few items of every entity, so that relationships have something to refer to.
        let least = (total / 40).max(1) as f64;
        let share = |expected: f64| (expected * scale).round().max(least.min(expected)).max(1.0) as u64;
        let counts = model.entities.iter().zip(&expected);
        let counts = counts.map(|(entity, expected)| (entity.name.clone(), share(*expected)));
        Generator { model, seed, counts: counts.collect() }
    }

    /// Returns the number of items of an entity.
    pub fn count(&self, entity: &Entity) -> u64 {
        let own = self.counts.get(&entity.name).copied().unwrap_or(1);
        // A copy exists for each original, unless it is the newest of several versions.
        let follows = entity.copies.as_ref().filter(|_| self.is_follower(entity));
        follows.and_then(|name| self.counts.get(name)).copied().unwrap_or(own)
    }

    /// Returns the number of all items.
    pub fn total(&self) -> u64 {
        self.model.entities.iter().map(|entity| self.count(entity)).sum()
    }

    /// Returns every item, entity by entity.
    pub fn items(&self) -> impl Iterator<Item = Item> + '_ {
        let each = |entity: &'m Entity| (0..self.count(entity)).map(move |number| (entity, number));
        self.model.entities.iter().flat_map(each).map(|(entity, number)| self.item(entity, number))
    }

    /// Returns one item, keys and type included.
    pub fn item(&self, entity: &'m Entity, number: u64) -> Item {
        let values = self.values(entity, number, 6);
        let mut item = Item::new();
        for attribute in &entity.attributes {
            if let Some(text) = values.get(&attribute.name) {
                item.insert(attribute.name.clone(), typed_value(&attribute.kind, text));
            }
        }
        for location in TableOrIndex::all(self.model) {
            let Some(mapping) = location.mapping(entity) else { continue };
            if location.index.is_none() || mapping.includes(&values) {
                self.add_keys(&mut item, &mapping, &values, number);
            }
        }
        if let Some(name) = &self.model.table.type_attribute {
            item.insert(name.clone(), Value::String(entity.type_value.clone()));
        }
        self.grow(entity, number, &mut item);
        item
    }

    /// Returns everything that must be written together: an item, the markers of its unique values, and its copies.
    pub fn bundle(&self, entity: &'m Entity, number: u64) -> Vec<Item> {
        let item = self.item(entity, number);
        let mut bundle = self.markers(entity, &item);
        bundle.push(item);
        let copies = self.model.copies_of(&entity.name).filter(|copy| self.is_follower(copy));
        bundle.extend(copies.flat_map(|copy| self.bundle(copy, number)));
        bundle
    }

    /// Returns whether an entity is a copy that is written with every original and not by itself.
    pub fn is_follower(&self, entity: &Entity) -> bool {
        let original = entity.copies.as_deref().is_some_and(|name| self.model.entity(name).is_some());
        original && entity.identity.is_empty()
    }

    /// The items that keep an item's unique values unique.
    fn markers(&self, entity: &Entity, item: &Item) -> Vec<Item> {
        let mut markers = Vec::new();
        for name in &entity.unique {
            if let Some(Value::String(value)) = item.get(name) {
                let key = Value::String(marker(entity, name, value));
                markers.push(self.model.table.keys.iter().map(|own| (own.clone(), key.clone())).collect());
            }
        }
        markers
    }

    fn add_keys(&self, item: &mut Item, mapping: &KeyMapping<'m>, values: &Attributes, number: u64) {
        let mut values = values.clone();
        values.insert(SHARD.to_owned(), self.shard(mapping, &values, number).to_string());
        for (position, (name, template)) in
            mapping.location.key_names(self.model).iter().zip(mapping.key).enumerate()
        {
            let Ok(key) = template.fill(&values) else { continue };
            item.insert(name.clone(), mapping.location.key_value(self.model, position, key));
        }
    }

    fn shard(&self, mapping: &KeyMapping<'_>, values: &Attributes, number: u64) -> u64 {
        let by = mapping.shard.and_then(|shard| shard.by.as_ref()).and_then(|by| values.get(by));
        by.map_or_else(|| at(self.seed, "shard", number), |value| hash(value)) % mapping.shards()
    }

    /// Returns the attributes of an item. Parents and originals are computed recursively, at most `depth` levels deep.
    pub fn values(&self, entity: &Entity, number: u64, depth: u32) -> Attributes {
        let mut values = Attributes::new();
        let original =
            entity.copies.as_deref().and_then(|name| self.model.entity(name)).filter(|_| depth > 0);
        if let Some(original) = original.filter(|_| entity.identity.is_empty()) {
            values.extend(self.values(original, number, depth - 1));
        }
        let parent =
            entity.expect.per.as_deref().and_then(|name| self.model.entity(name)).filter(|_| depth > 0);
        let (mut ordinal, mut group) = (number, number);
        if let Some(parent) = parent {
            let parents = self.count(parent).max(1);
            let each = (self.count(entity) as f64 / parents as f64).max(0.01);
            group = ((number as f64 / each) as u64).min(parents - 1);
            ordinal = number.saturating_sub((group as f64 * each).ceil() as u64);
            let shared = self.values(parent, group, depth - 1);
            for (name, value) in shared {
                let own = entity.identity() == Some(name.as_str());
                let linked = entity.has_key_field(&name) || self.model.owner_of(&name).is_some();
                if entity.attribute(&name).is_some() && linked && !own {
                    values.entry(name).or_insert(value);
                }
            }
        }
        for attribute in &entity.attributes {
            if values.contains_key(&attribute.name) {
                continue;
            }
            let absent = attribute.optional && at(self.seed, &attribute.name, number) % 10 < 7;
            if !absent {
                let value = self.value(entity, attribute, number, ordinal, group, depth);
                values.insert(attribute.name.clone(), value);
            }
        }
        values
    }

    fn value(
        &self,
        entity: &Entity,
        attribute: &Attribute,
        number: u64,
        ordinal: u64,
        group: u64,
        depth: u32,
    ) -> String {
        let name = attribute.name.as_str();
        let own = entity.identity() == Some(name);
        let owner = self.model.owner_of(name).filter(|owner| owner.name != entity.name && depth > 0 && !own);
        if let Some(owner) = owner {
            // The other end of a relationship advances with every item of the group, so that no pair repeats.
            let start = at(self.seed, name, group);
            let other = start.wrapping_add(ordinal) % self.count(owner).max(1);
            return self.values(owner, other, depth - 1).remove(name).unwrap_or_default();
        }
        let distinguishing = own || (entity.identity().is_none() && entity.has_key_field(name));
        let purpose = if own { entity.name.clone() } else { format!("{}.{name}", entity.name) };
        let drawn = at(self.seed, &purpose, number);
        match &attribute.kind {
            ValueType::Int if distinguishing => (ordinal + 1).to_string(),
            ValueType::Id | ValueType::String if own => format!("{}{number:06}", initial(&entity.name)),
            ValueType::Id | ValueType::String if distinguishing => {
                format!("{}-{ordinal}", WORDS[(ordinal % 24) as usize])
            }
            kind => plain_value(kind, name, attribute.values, drawn, number),
        }
    }

    /// Extends the last free text until the item has the expected size.
    fn grow(&self, entity: &Entity, number: u64, item: &mut Item) {
        let Some(wanted) = entity.expect.bytes else { return };
        let have = item_size(item);
        let free = |attribute: &&Attribute| {
            attribute.kind == ValueType::String
                && !entity.has_key_field(&attribute.name)
                && !attribute.optional
        };
        let keyed =
            |name: &str| entity.indexes.iter().any(|i| i.key.iter().any(|template| template.has_field(name)));
        let named = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
        let fit = |attribute: &&Attribute| {
            let name = attribute.name.as_str();
            !keyed(name)
                && !entity.unique.contains(&attribute.name)
                && !named(name, &["email", "url", "phone"])
        };
        let long = ["content", "body", "text", "description", "note", "message", "comment"];
        let candidates: Vec<&Attribute> = entity.attributes.iter().rev().filter(free).filter(fit).collect();
        let text = candidates.iter().find(|a| named(&a.name, &long)).or(candidates.first()).copied();
        let Some(attribute) = text.filter(|_| wanted as usize > have) else { return };
        let mut filler = item.get(&attribute.name).and_then(Value::to_text).unwrap_or_default();
        let mut turn = at(self.seed, "words", number);
        let target = filler.len() + wanted as usize - have;
        while filler.len() < target {
            filler.push(' ');
            filler.push_str(WORDS[(turn % 24) as usize]);
            turn = turn.rotate_right(5).wrapping_add(7);
        }
        filler.truncate(target);
        item.insert(attribute.name.clone(), Value::String(filler));
    }
}

fn initial(name: &str) -> String {
    name.chars().next().map(|character| character.to_lowercase().to_string()).unwrap_or_default()
}

/// A value of a type from its text.
fn typed_value(kind: &ValueType, text: &str) -> Value {
    let text = text.to_owned();
    match kind {
        ValueType::Int | ValueType::Decimal => Value::Number(text),
        ValueType::Bool => Value::Bool(text == "true"),
        ValueType::Binary => Value::Binary(text),
        ValueType::List => Value::List(vec![Value::String(text)]),
        ValueType::Map => Value::Map([("value".to_owned(), Value::String(text))].into()),
        ValueType::Set => Value::StringSet(vec![text]),
        _ => Value::String(text),
    }
}

/// Returns the key that a template produces from example values.
pub fn example_key(entity: &Entity, template: &Template) -> String {
    let mut values = Attributes::new();
    for name in template.fields() {
        let value = match entity.attribute(name) {
            Some(attribute) if entity.identity() == Some(name) && attribute.kind == ValueType::Id => {
                format!("{}000001", initial(&entity.name))
            }
            Some(attribute) => plain_value(&attribute.kind, name, attribute.values, hash(name), 1),
            None => "0".to_owned(),
        };
        values.insert(name.to_owned(), value);
    }
    template.fill(&values).unwrap_or_default()
}
