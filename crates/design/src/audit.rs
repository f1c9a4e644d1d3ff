//! A write held against the model: is the item what its type says, are its keys made of its attributes, are its index keys in
//! step? Pure: attributes in, violations out.

use crate::finding::{closest, list};
use crate::item::Attributes;
use crate::model::{Entity, Indexed, Model};
use crate::slot::Place;
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

/// Items that keep values unique begin with this and belong to no entity.
pub const MARKER: &str = "UNIQUE#";

/// The partition key of the item that keeps a value unique; it is its sort key as well, if the table has one.
pub fn marker(entity: &Entity, attribute: &str, value: &str) -> String {
    format!("{MARKER}{}#{attribute}#{value}", entity.name)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// `type`, `key`, `index`, `copy` or `unique`.
    pub rule: &'static str,
    pub message: String,
}

fn violation(rule: &'static str, message: String) -> Violation {
    Violation { rule, message }
}

/// An item that is written as a whole.
pub fn item(model: &Model, attributes: &Attributes) -> Vec<Violation> {
    if is_marker(model, attributes) {
        return Vec::new();
    }
    let candidates: Vec<&Entity> = match typed(model, attributes) {
        Ok(candidates) => candidates,
        Err(violation) => return vec![violation],
    };
    let Some(entity) = candidates.iter().find(|entity| has_key_of(model, entity, attributes)) else {
        let wanted: Vec<String> =
            candidates.iter().map(|entity| format!("{} ({})", entity.name, keys(entity))).collect();
        return vec![violation(
            "key",
            format!("{} is no key of {}", shown(model, attributes), list(&wanted)),
        )];
    };
    let mut violations = Vec::new();
    for (name, template) in model.table.keys.iter().zip(&entity.key) {
        violations
            .extend(filled(entity, name, template, attributes).map(|message| violation("key", message)));
    }
    for indexed in &entity.indexes {
        violations.extend(index_violations(model, entity, indexed, attributes));
    }
    violations
}

/// An update: which attributes it sets or removes must include the index keys that are made of them.
pub fn update(model: &Model, key: &Attributes, touched: &BTreeSet<&str>) -> Vec<Violation> {
    let matching: Vec<&Entity> =
        model.entities.iter().filter(|entity| has_key_of(model, entity, key)).collect();
    if is_marker(model, key) {
        return Vec::new();
    }
    let [entity] = matching.as_slice() else {
        if matching.is_empty() {
            return vec![violation("key", format!("{} is no key of any entity", shown(model, key)))];
        }
        return Vec::new();
    };
    let mut violations = Vec::new();
    for indexed in &entity.indexes {
        let Some(index) = model.index(&indexed.index) else { continue };
        let conditional: Vec<&str> = indexed
            .when
            .tests
            .iter()
            .map(|test| test.attribute())
            .filter(|name| touched.contains(name))
            .collect();
        for (name, template) in index.keys.iter().zip(&indexed.key) {
            if is_natural(model, name, template) || touched.contains(name.as_str()) {
                continue;
            }
            let made_of: Vec<&str> = template.fields().filter(|field| touched.contains(field)).collect();
            let causes: BTreeSet<&str> = made_of.into_iter().chain(conditional.iter().copied()).collect();
            if !causes.is_empty() {
                let causes: Vec<&str> = causes.into_iter().collect();
                violations.push(violation(
                    "index",
                    format!(
                        "{} of {} changes, and {name} ({template} in {}) is not updated: the index would be stale",
                        list(&causes),
                        entity.name,
                        index.name
                    ),
                ));
            }
        }
    }
    violations
}

/// Entities that the type attribute allows.
fn typed<'m>(model: &'m Model, attributes: &Attributes) -> Result<Vec<&'m Entity>, Violation> {
    let all = || model.entities.iter().collect();
    let Some(name) = model.table.type_attribute.as_ref() else { return Ok(all()) };
    let Some(kind) = attributes.get(name) else {
        return Err(violation("type", format!("{} has no {name}", shown(model, attributes))));
    };
    let found: Vec<&Entity> = model.entities.iter().filter(|entity| entity.type_value == *kind).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let meant = closest(kind, model.entities.iter().map(|entity| entity.type_value.as_str()));
    let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    Err(violation("type", format!("{name} {kind} is not in the model{meant}")))
}

fn is_marker(model: &Model, attributes: &Attributes) -> bool {
    let partition = model.table.keys.first().and_then(|key| attributes.get(key));
    partition.is_some_and(|key| key.starts_with(MARKER))
}

fn has_key_of(model: &Model, entity: &Entity, attributes: &Attributes) -> bool {
    model.table.keys.iter().zip(&entity.key).all(|(name, template)| {
        attributes.get(name).is_some_and(|key| template.matches(key, entity).is_some())
    })
}

fn keys(entity: &Entity) -> String {
    entity.key.iter().map(Template::to_string).collect::<Vec<_>>().join(" / ")
}

fn shown(model: &Model, attributes: &Attributes) -> String {
    let values = model.table.keys.iter().filter_map(|key| attributes.get(key).map(String::as_str));
    values.collect::<Vec<_>>().join(" / ")
}

/// The key attribute is the attribute itself.
fn is_natural(model: &Model, name: &str, template: &Template) -> bool {
    model.table.keys.iter().any(|key| key == name) || template.bare_field() == Some(name)
}

/// What is wrong with one key attribute.
fn filled(entity: &Entity, name: &str, template: &Template, attributes: &Attributes) -> Option<String> {
    let Some(key) = attributes.get(name) else {
        return Some(format!("{name} is missing: {} makes it {template}", entity.name));
    };
    let mut values = attributes.clone();
    if template.has_field(SHARD) {
        let found = template.matches(key, entity).and_then(|mut values| values.remove(SHARD));
        values.insert(SHARD.to_owned(), found.unwrap_or_default());
    }
    // Attributes that an item does not repeat are known from its key alone.
    let expected = template.fill(&values).ok()?;
    (expected != *key)
        .then(|| format!("{name} is {key}, but the attributes of this {} make it {expected}", entity.name))
}

fn index_violations(
    model: &Model,
    entity: &Entity,
    indexed: &Indexed,
    attributes: &Attributes,
) -> Vec<Violation> {
    let Some(index) = model.index(&indexed.index) else { return Vec::new() };
    let place = Place { index: Some(index) };
    let Some(slot) = place.slot(entity) else { return Vec::new() };
    let belongs = crate::generate::meets(&slot, attributes);
    let mut violations = Vec::new();
    for (name, template) in
        index.keys.iter().zip(&indexed.key).filter(|(name, t)| !is_natural(model, name, t))
    {
        if belongs {
            violations.extend(
                filled(entity, name, template, attributes).map(|message| violation("index", message)),
            );
        } else if attributes.contains_key(name) {
            let message = format!(
                "{name} must be absent: {} holds {} only when {}",
                index.name, entity.name, indexed.when
            );
            violations.push(violation("index", message));
        }
    }
    violations
}

/// What a write does to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Put,
    /// The attributes that it sets or removes.
    Update(BTreeSet<String>),
    Delete,
}

/// One write of a request. Of an update or a deletion only the key is known.
#[derive(Clone, Debug)]
pub struct Written<'m> {
    pub entity: &'m Entity,
    pub attributes: Attributes,
    pub change: Change,
}

/// How the writes of a request belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bond {
    Alone,
    Batch,
    Transaction,
}

/// The entity whose type, if it has one, and key these attributes have.
pub fn recognise<'m>(model: &'m Model, attributes: &Attributes) -> Option<&'m Entity> {
    let kind = model.table.type_attribute.as_ref().and_then(|name| attributes.get(name));
    let typed = |entity: &&Entity| kind.is_none_or(|kind| entity.type_value == *kind);
    model.entities.iter().filter(typed).find(|entity| has_key_of(model, entity, attributes))
}

/// The writes of one request, taken together: copies go with their originals, and what is unique goes with its marker.
/// `keys` are the partition keys of everything that the request writes, markers included.
pub fn together(model: &Model, written: &[Written<'_>], keys: &[String], bond: Bond) -> Vec<Violation> {
    let mut violations = Vec::new();
    for write in written {
        for copy in model.copies_of(&write.entity.name).filter(|copy| write.concerns(copy)) {
            if !write.has_copy(copy, written, bond) {
                let how = if bond == Bond::Batch { "batch" } else { "transaction" };
                let (original, copy) = (&write.entity.name, &copy.name);
                let message = format!("{original} is written without its copy {copy} in one {how}");
                violations.push(violation("copy", message));
            }
        }
        for name in write
            .entity
            .unique
            .iter()
            .filter(|name| write.touches(name) && !write.is_marked(name, keys, bond))
        {
            let entity = &write.entity.name;
            let message = format!(
                "{name} of {entity} is unique, which takes a transaction with a marker item ({})",
                marker(write.entity, name, write.attributes.get(name).map_or("…", String::as_str))
            );
            violations.push(violation("unique", message));
        }
    }
    violations
}

impl Written<'_> {
    fn touches(&self, name: &str) -> bool {
        match &self.change {
            Change::Put | Change::Delete => true,
            Change::Update(names) => names.contains(name),
        }
    }

    fn concerns(&self, copy: &Entity) -> bool {
        copy.attributes.iter().any(|attribute| self.touches(&attribute.name))
    }

    fn has_copy(&self, copy: &Entity, written: &[Written<'_>], bond: Bond) -> bool {
        let mut copies = written.iter().filter(|other| other.entity.name == copy.name);
        match bond {
            Bond::Alone => false,
            Bond::Transaction => copies.next().is_some(),
            // A copy with an identity of its own is of the newest of several: not every original has one.
            Bond::Batch if !copy.identity.is_empty() => true,
            Bond::Batch => copies.any(|other| same_values(self.entity, &self.attributes, &other.attributes)),
        }
    }

    /// Another item of the request has the value in its key, or the value is not known.
    fn is_marked(&self, name: &str, keys: &[String], bond: Bond) -> bool {
        match (bond, self.attributes.get(name).filter(|_| self.change == Change::Put)) {
            (Bond::Alone, _) => false,
            (Bond::Transaction, None) => true,
            (Bond::Batch, None) => keys.iter().any(|key| key.starts_with(MARKER)),
            (_, Some(value)) => keys.iter().any(|key| key.contains(value.as_str())),
        }
    }
}

/// Two items are about the same thing: they agree in what identifies it, as far as both have it.
pub fn same_values(original: &Entity, left: &Attributes, right: &Attributes) -> bool {
    let by: Vec<&str> = match original.identity() {
        Some(id) => vec![id],
        None => original.key_fields().filter(|name| *name != SHARD).collect(),
    };
    by.iter().all(|name| left.get(*name) == right.get(*name))
}
