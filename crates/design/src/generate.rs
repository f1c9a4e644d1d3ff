//! Generates realistic items from a model: any number, reproducible by seed, each computed independently. Only aggregates need all items that
//! they summarise.
//!
//! The values of an item depend only on the seed, its entity and its number. A child takes its parent's identifier, a copy its original's
//! values; choices and times are drawn. The keys are then filled in by the templates, as an application would do it.

mod aggregates;
pub mod examples;
mod owners;
mod repeated;
mod sparse;
mod values;

use crate::audit::{marker, marker_of};
use crate::capacity::estimate;
use crate::item::{Attributes, Item, Value, attributes, item_size};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::decimal::{Decimal, number_text};
use crate::model::limits::Limits;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model};
use crate::name_hints;
use crate::random::at;
use crate::template::{Format, Part, SHARD, Template};
use owners::{Owners, Place, owners, siblings};
use repeated::Repeated;
use sparse::{SparseIndexes, sparse_indexes};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use values::{WORDS, distinct_value, expiry, plain_value, whole};

/// How many levels of parents and originals are computed.
const DEPTH: u32 = 6;

/// Generates items from a model.
pub struct Generator<'m> {
    /// The model.
    pub model: &'m Model,
    seed: u64,
    counts: BTreeMap<String, u64>,
    sparse: SparseIndexes,
    /// How many decimals the keys have room for, by attribute.
    decimals: BTreeMap<&'m str, usize>,
    /// What joins the parts of a generated identifier: nothing where keys contain the usual hyphen.
    joint: &'static str,
    owners: Owners<'m>,
    siblings: Owners<'m>,
    /// Computed from all items, when the first one is needed.
    repeated: OnceLock<Repeated>,
    /// Computed from all items that an aggregate summarises, when the first one is needed.
    aggregates: OnceLock<aggregates::Aggregates>,
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
        let counts = counts.map(|(entity, expected)| (entity.name.clone(), share(*expected))).collect();
        Generator {
            model,
            seed,
            sparse: sparse_indexes(model, &counts, &expected),
            counts,
            decimals: decimals_of_keys(model),
            joint: if keys_contain_hyphens(model) { "" } else { "-" },
            owners: owners(model),
            siblings: siblings(model),
            repeated: OnceLock::new(),
            aggregates: OnceLock::new(),
        }
    }

    /// Returns the number of numbers that stand for items of an entity; a few of them may repeat a key, and are left out.
    pub fn numbered(&self, entity: &Entity) -> u64 {
        let own = self.counts.get(&entity.name).copied().unwrap_or(1);
        if let Some(original) = self.model.versioned_original(entity) {
            return self.histories(original).0;
        }
        // A copy exists for each original, unless it is the newest of several versions.
        let follows = entity.copies.as_ref().filter(|_| self.is_follower(entity));
        follows.and_then(|name| self.counts.get(name)).copied().unwrap_or(own)
    }

    /// Returns the model with the numbers of items that are generated in place of those that it expects.
    pub fn seeded_model(&self) -> Model {
        let mut model = self.model.clone();
        for (seeded, entity) in model.entities.iter_mut().zip(&self.model.entities) {
            let count = self.count(entity);
            let parent = entity.expect.per.as_deref().and_then(|name| self.model.entity(name));
            seeded.expect.average = parent
                .map(|parent| count as f64 / self.count(parent).max(1) as f64)
                .or(entity.expect.average);
            seeded.expect.count = Some(count);
            seeded.expect.max = entity.expect.max.map(|max| max.min(count));
            for attribute in &mut seeded.attributes {
                attribute.values = attribute.values.map(|values| values.min(count));
            }
            for own in &mut seeded.indexes {
                let sparse = self.sparse.get(&(entity.name.clone(), own.index.clone()));
                own.count = sparse.map(|sparse| sparse.count).or(own.count);
            }
        }
        model
    }

    /// Returns the number of all items.
    pub fn total(&self) -> u64 {
        self.model.entities.iter().map(|entity| self.count(entity)).sum()
    }

    /// Returns every item, entity by entity.
    pub fn items(&self) -> impl Iterator<Item = Item> + '_ {
        let each = |entity: &'m Entity| self.numbers(entity).map(move |number| (entity, number));
        self.model.entities.iter().flat_map(each).map(|(entity, number)| self.item(entity, number))
    }

    /// Returns one item, keys and type included.
    pub fn item(&self, entity: &'m Entity, number: u64) -> Item {
        let mut values = self.values(entity, number, DEPTH);
        self.add_aggregates(entity, number, &mut values);
        let mut item = self.item_of(entity, values, number);
        self.grow(entity, number, &mut item);
        self.match_original(entity, number, &mut item);
        item
    }

    /// Returns the item with these attributes, keys and type included; `number` selects its shard where that is random.
    pub fn item_of(&self, entity: &'m Entity, values: Attributes, number: u64) -> Item {
        let mut item = typed_item(entity, &values);
        for location in TableOrIndex::all(self.model) {
            let Some(mapping) = location.mapping(entity) else { continue };
            if location.index.is_none() || mapping.includes(&values) {
                self.add_keys(&mut item, &mapping, &values, number);
            }
        }
        if let Some(name) = &self.model.table.type_attribute {
            item.insert(name.clone(), Value::String(entity.type_value.clone()));
        }
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

    /// The original whose values a copy has, and its number.
    fn original_of(&self, entity: &Entity, number: u64) -> Option<(&'m Entity, u64)> {
        let original = self.model.entity(entity.copies.as_deref()?)?;
        match self.model.versioned_original(entity) {
            Some(original) => Some((original, self.newest_version(original, number))),
            None if !self.model.has_own_identity(entity) && original.copies.is_none() => {
                Some((original, number))
            }
            None => None,
        }
    }

    /// Gives a copy exactly the values that its original has.
    fn match_original(&self, entity: &Entity, number: u64, item: &mut Item) {
        let Some((original, number)) = self.original_of(entity, number) else { return };
        let source = self.item(original, number);
        for attribute in entity.attributes.iter().filter(|own| original.attribute(&own.name).is_some()) {
            match source.get(&attribute.name) {
                Some(value) => item.insert(attribute.name.clone(), value.clone()),
                None => item.remove(&attribute.name),
            };
        }
    }

    /// The number of things whose versions are kept, and the average number of versions of each.
    fn histories(&self, original: &Entity) -> (u64, f64) {
        let own = |entity: &Entity| self.counts.get(&entity.name).copied();
        let parent = original.expect.per.as_deref().and_then(|name| self.model.entity(name));
        let copies = self.model.copies_of(&original.name);
        let latest = || copies.filter(|copy| self.model.versioned_original(copy).is_some()).find_map(own);
        let versions = own(original).unwrap_or(1).max(1);
        let histories = parent.and_then(own).or_else(latest).unwrap_or(versions).clamp(1, versions);
        (histories, versions as f64 / histories as f64)
    }

    /// The number of the newest version of a history.
    fn newest_version(&self, original: &Entity, history: u64) -> u64 {
        let (histories, each) = self.histories(original);
        let versions = (histories as f64 * each).round() as u64;
        (((history + 1) as f64 * each).ceil() as u64).clamp(1, versions) - 1
    }

    /// Returns whether an entity is a copy that is written with every original and not by itself.
    pub fn is_follower(&self, entity: &Entity) -> bool {
        let original = entity.copies.as_deref().is_some_and(|name| self.model.entity(name).is_some());
        original && !self.model.has_own_identity(entity) && !entity.latest
    }

    /// The items that keep an item's unique values unique.
    fn markers(&self, entity: &Entity, item: &Item) -> Vec<Item> {
        let texts = attributes(item);
        let keys = entity.unique.iter().filter_map(|unique| marker(entity, unique, &texts));
        keys.map(|key| marker_of(self.model, entity, item, &key)).collect()
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
        let Some(shard) = mapping.shard else { return 0 };
        shard.selected(values).unwrap_or_else(|| at(self.seed, "shard", number) % shard.numbers().end)
    }

    /// Returns the attributes of an item. Parents and originals are computed recursively, at most `depth` levels deep.
    pub fn values(&self, entity: &Entity, number: u64, depth: u32) -> Attributes {
        let mut values = Attributes::new();
        let original =
            entity.copies.as_deref().and_then(|name| self.model.entity(name)).filter(|_| depth > 0);
        if let Some(original) = self.model.versioned_original(entity).filter(|_| depth > 0) {
            values.extend(self.values(original, self.newest_version(original, number), depth - 1));
        } else if let Some(original) = original.filter(|_| !self.model.has_own_identity(entity)) {
            values.extend(self.values(original, number, depth - 1));
        }
        // A copy of the newest version takes its values from there, not the other way round.
        let is_copy = |parent: &&Entity| {
            self.model.versioned_original(parent).is_some_and(|original| original.name == entity.name)
        };
        let parent = entity.expect.per.as_deref().and_then(|name| self.model.entity(name));
        let parent = parent.filter(|parent| depth > 0 && !is_copy(parent));
        let (mut ordinal, mut group) = (number, number);
        let has_history = entity.versions.is_some() && parent.is_none();
        if has_history {
            let (histories, each) = self.histories(entity);
            (group, ordinal) = place(number, histories, each);
        }
        if let Some(parent) = parent {
            let parents = self.numbered(parent).max(1);
            (group, ordinal) = place(number, parents, self.numbered(entity) as f64 / parents as f64);
            let shared = self.values(parent, group, depth - 1);
            for (name, value) in shared {
                // What identifies its parent alone, it has from there.
                let own = entity.identity() == Some(name.as_str()) && parent.identity() != entity.identity();
                // The parent is at one end of a relationship, and not at both.
                let is_end =
                    |end: Option<&str>| end.is_some_and(|end| entity.edge.iter().any(|own| own == end));
                let is_other_end =
                    is_end(Some(&name)) && is_end(parent.identity()) && parent.identity() != Some(&name);
                let linked = entity.has_key_field(&name) || self.model.owner_of(&name).is_some();
                if entity.attribute(&name).is_some() && linked && !own && !is_other_end {
                    values.entry(name).or_insert(value);
                }
            }
        }
        let given = entity.edge.iter().map(String::as_str).find(|end| values.contains_key(*end));
        let place = Place { number, ordinal, group, given };
        let of_group = Place { number: group, ordinal: group, group, given };
        let mut drawn = Vec::new();
        for attribute in &entity.attributes {
            let name = attribute.name.as_str();
            if values.contains_key(name) || self.is_aggregate(entity, name) {
                continue;
            }
            // All versions of one thing have its identity.
            if has_history && entity.versions.as_deref() != Some(name) && entity.has_key_field(name) {
                let value = self.value(entity, attribute, of_group, depth);
                values.insert(attribute.name.clone(), value);
                continue;
            }
            drawn.push(attribute);
            let absent = attribute.optional && at(self.seed, &attribute.name, number) % 10 < 7;
            if !absent {
                let value = self.value(entity, attribute, place, depth);
                values.insert(attribute.name.clone(), value);
            }
        }
        self.meet_conditions(entity, number, &drawn, &mut values);
        values
    }

    /// A number with as many decimals as keys have room for; an identifier without hyphens where these are between the parts of keys.
    fn fitting(&self, attribute: &Attribute, value: String) -> String {
        match (&attribute.kind, self.decimals.get(attribute.name.as_str())) {
            (ValueType::Decimal, Some(decimals)) => {
                let (whole, rest) = value.split_once('.').unwrap_or((&value, ""));
                let kept: String = rest.chars().take(*decimals).collect();
                number_text(&format!("{whole}.{kept}"))
            }
            (ValueType::Id, _) => value.replace('-', self.joint),
            _ => value,
        }
    }

    fn value(&self, entity: &Entity, attribute: &Attribute, place: Place<'_>, depth: u32) -> String {
        let name = attribute.name.as_str();
        if let Some(value) = self.value_of_sibling(entity, name, place, depth) {
            return value;
        }
        let own = entity.identity() == Some(name);
        // What identifies items of another entity names them in turn: they may be in several parts.
        let other = self.model.owner_of(name).filter(|other| own && depth > 0 && other.name != entity.name);
        if let Some(other) = other {
            let number = place.number % self.numbered(other).max(1);
            return self.id_of(other, name, number, depth).unwrap_or_default();
        }
        let owner = self.owner_of(entity, name);
        let owner = owner.filter(|owner| owner.name != entity.name && depth > 0 && !own);
        let (number, turn) = (place.number, self.turn(entity, name, owner, place));
        if entity.versions.as_deref() == Some(name) {
            let least = attribute.limits.min.clone().max(Some(Decimal::one()));
            return whole(&Limits { min: least, ..attribute.limits.clone() }, place.ordinal);
        }
        if let Some(owner) = owner {
            return self.id_of(owner, name, turn % self.numbered(owner).max(1), depth).unwrap_or_default();
        }
        let distinguishing = own || (entity.identity().is_none() && entity.has_key_field(name));
        let is_of_identity = own || shows_creation(entity, attribute);
        let purpose = if is_of_identity { entity.name.clone() } else { format!("{}.{name}", entity.name) };
        let drawn = at(self.seed, &purpose, number);
        match &attribute.kind {
            ValueType::Int if entity.ttl.as_deref() == Some(name) => expiry(drawn),
            ValueType::Int if distinguishing => {
                let skipped = u64::from(attribute.limits.min.is_none());
                whole(&attribute.limits, turn.wrapping_add(skipped))
            }
            ValueType::Id | ValueType::String if own => format!("{}{number:06}", initial(&entity.name)),
            ValueType::Id | ValueType::String if distinguishing => {
                format!("{}{}{turn}", WORDS[(turn % 24) as usize], self.joint)
            }
            ValueType::Id | ValueType::String if entity.has_unique(name) => {
                let value = plain_value(&Attribute::new(name, attribute.kind.clone()), drawn, number);
                if value.contains('@') {
                    value
                } else {
                    format!("{}{}{number}", value.replace([' ', '-'], self.joint).to_lowercase(), self.joint)
                }
            }
            kind if entity.has_unique(name) && (kind.is_number() || kind.is_time()) => {
                self.fitting(attribute, distinct_value(attribute, number))
            }
            _ => self.fitting(attribute, plain_value(attribute, drawn, number)),
        }
    }

    /// The identifier of an item, which an attribute of another one holds.
    fn id_of(&self, owner: &Entity, name: &str, number: u64, depth: u32) -> Option<String> {
        let id = if owner.attribute(name).is_some() { Some(name) } else { owner.identity() };
        self.values(owner, number, depth - 1).remove(id?)
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
        let indexed = |own: &Entity, name: &str| {
            own.indexes.iter().any(|index| index.key.iter().any(|key| key.has_field(name)))
        };
        let keyed = |name: &str| {
            let mut copies = self.model.copies_of(&entity.name);
            indexed(entity, name) || copies.any(|copy| copy.has_key_field(name) || indexed(copy, name))
        };
        let named = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
        let fit = |attribute: &&Attribute| {
            let name = attribute.name.as_str();
            !keyed(name) && !entity.has_unique(name) && !named(name, &["email", "url", "phone"])
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

/// Returns whether an attribute is the time that the identifier of its item contains, too.
fn shows_creation(entity: &Entity, attribute: &Attribute) -> bool {
    let id = entity.identity().and_then(|name| entity.attribute(name));
    let has_time = id.is_some_and(|id| matches!(id.kind, ValueType::Ulid | ValueType::Ksuid));
    has_time && attribute.kind.is_time() && name_hints::is_creation_time(&attribute.name)
}

fn templates(model: &Model) -> impl Iterator<Item = &Template> {
    fn of_entity(entity: &Entity) -> impl Iterator<Item = &Template> {
        entity.key.iter().chain(entity.indexes.iter().flat_map(|own| &own.key))
    }
    model.entities.iter().flat_map(of_entity)
}

fn decimals_of_keys(model: &Model) -> BTreeMap<&str, usize> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for part in templates(model).flat_map(|template| &template.parts) {
        if let Part::Field {
            name,
            format: Format::Padded { decimals, .. } | Format::Signed { decimals, .. },
        } = part
        {
            let least = found.entry(name).or_insert(*decimals);
            *least = (*least).min(*decimals);
        }
    }
    found
}

fn keys_contain_hyphens(model: &Model) -> bool {
    let mut parts = templates(model).flat_map(|template| &template.parts);
    parts.any(|part| matches!(part, Part::Text(text) if text.contains('-')))
}

/// The group of an item, and its place in the group, if there are `each` items per group.
fn place(number: u64, groups: u64, each: f64) -> (u64, u64) {
    let each = each.max(0.01);
    let group = ((number as f64 / each) as u64).min(groups - 1);
    (group, number.saturating_sub((group as f64 * each).ceil() as u64))
}

fn initial(name: &str) -> String {
    name.chars().next().map(|character| character.to_lowercase().to_string()).unwrap_or_default()
}

/// A value of a type from its text.
pub(crate) fn typed_value(kind: &ValueType, text: &str) -> Value {
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

/// Returns the attributes of an item, without keys and type.
pub(crate) fn typed_item(entity: &Entity, values: &Attributes) -> Item {
    let typed = |attribute: &Attribute| {
        Some((attribute.name.clone(), typed_value(&attribute.kind, values.get(&attribute.name)?)))
    };
    entity.attributes.iter().filter_map(typed).collect()
}
