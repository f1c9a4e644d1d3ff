//! Checks writes against a model: the type of an item, its keys, and its index keys. The rules are applied by the server to each request
//! (`request`) and by the command line to whole tables (`table`); `attribution` recognises the declared pattern or write of a request.

pub mod attribution;
mod request;
pub mod table;

pub use request::{EntityWrite, ItemChange, WriteGrouping, check_request};

use crate::finding::closest;
use crate::formatting::list;
use crate::item::Attributes;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, IndexKey, Model};
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

/// The prefix of the keys of marker items, which keep values unique and belong to no entity.
pub const MARKER: &str = "UNIQUE#";

/// Returns the key of the item that keeps a value unique: its partition key and, if the table has one, its sort key.
pub fn marker(entity: &Entity, attribute: &str, value: &str) -> String {
    format!("{MARKER}{}#{attribute}#{value}", entity.name)
}

/// A rule that a write breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule: `type`, `key`, `index`, `copy` or `unique`.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
}

fn violation(rule: &'static str, message: String) -> Violation {
    Violation { rule, message }
}

/// Checks a whole item.
pub fn check_item(model: &Model, attributes: &Attributes) -> Vec<Violation> {
    if is_marker(model, attributes) {
        return Vec::new();
    }
    let entities: Vec<&Entity> = match candidates(model, attributes) {
        Ok(entities) => entities,
        Err(violation) => return vec![violation],
    };
    let Some(entity) = entities.iter().find(|entity| has_key_of(model, entity, attributes)) else {
        let wanted: Vec<String> =
            entities.iter().map(|entity| format!("{} ({})", entity.name, key_templates(entity))).collect();
        return vec![violation(
            "key",
            format!("{} is not a key of {}", key_text(model, attributes), list(&wanted)),
        )];
    };
    let mut violations = Vec::new();
    for (name, template) in model.table.keys.iter().zip(&entity.key) {
        violations.extend(
            key_mismatch(entity, name, template, attributes).map(|message| violation("key", message)),
        );
    }
    for index_key in &entity.indexes {
        violations.extend(index_violations(model, entity, index_key, attributes));
    }
    violations
}

/// Checks an update: if it touches attributes that an index key is built from, it must also set that key.
pub fn check_update(model: &Model, key: &Attributes, touched: &BTreeSet<&str>) -> Vec<Violation> {
    let matching: Vec<&Entity> =
        model.entities.iter().filter(|entity| has_key_of(model, entity, key)).collect();
    if is_marker(model, key) {
        return Vec::new();
    }
    let [entity] = matching.as_slice() else {
        if matching.is_empty() {
            return vec![violation("key", format!("{} is not a key of any entity", key_text(model, key)))];
        }
        return Vec::new();
    };
    let mut violations = Vec::new();
    for index_key in &entity.indexes {
        let Some(index) = model.index(&index_key.index) else { continue };
        let conditional: Vec<&str> = index_key
            .when
            .tests
            .iter()
            .map(|test| test.attribute())
            .filter(|name| touched.contains(name))
            .collect();
        for (name, template) in index.keys.iter().zip(&index_key.key) {
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

/// The entities that the type attribute allows.
fn candidates<'m>(model: &'m Model, attributes: &Attributes) -> Result<Vec<&'m Entity>, Violation> {
    let all = || model.entities.iter().collect();
    let Some(name) = model.table.type_attribute.as_ref() else { return Ok(all()) };
    let Some(kind) = attributes.get(name) else {
        return Err(violation("type", format!("{} has no {name}", key_text(model, attributes))));
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

fn key_templates(entity: &Entity) -> String {
    entity.key.iter().map(Template::to_string).collect::<Vec<_>>().join(" / ")
}

fn key_text(model: &Model, attributes: &Attributes) -> String {
    let values = model.table.keys.iter().filter_map(|key| attributes.get(key).map(String::as_str));
    values.collect::<Vec<_>>().join(" / ")
}

/// Returns whether the key attribute is the attribute itself.
fn is_natural(model: &Model, name: &str, template: &Template) -> bool {
    model.table.keys.iter().any(|key| key == name) || template.bare_field() == Some(name)
}

/// What is wrong with one key attribute.
fn key_mismatch(entity: &Entity, name: &str, template: &Template, attributes: &Attributes) -> Option<String> {
    let Some(key) = attributes.get(name) else {
        return Some(format!("{name} is missing: {} requires {template}", entity.name));
    };
    let mut values = attributes.clone();
    if template.has_field(SHARD) {
        let found = template.matches(key, entity).and_then(|mut values| values.remove(SHARD));
        values.insert(SHARD.to_owned(), found.unwrap_or_default());
    }
    // An attribute that is only part of the key cannot contradict it.
    let expected = template.fill(&values).ok()?;
    (expected != *key)
        .then(|| format!("{name} is {key}, but the attributes of this {} require {expected}", entity.name))
}

fn index_violations(
    model: &Model,
    entity: &Entity,
    index_key: &IndexKey,
    attributes: &Attributes,
) -> Vec<Violation> {
    let Some(index) = model.index(&index_key.index) else { return Vec::new() };
    let location = TableOrIndex { index: Some(index) };
    let Some(mapping) = location.mapping(entity) else { return Vec::new() };
    let belongs = mapping.includes(attributes);
    let mut violations = Vec::new();
    for (name, template) in
        index.keys.iter().zip(&index_key.key).filter(|(name, t)| !is_natural(model, name, t))
    {
        if belongs {
            violations.extend(
                key_mismatch(entity, name, template, attributes).map(|message| violation("index", message)),
            );
        } else if attributes.contains_key(name) {
            let message = format!(
                "{name} must be absent: {} holds {} only when {}",
                index.name, entity.name, index_key.when
            );
            violations.push(violation("index", message));
        }
    }
    violations
}

/// Returns the entity that an item belongs to, by its type, if it has one, and its key.
pub fn recognise<'m>(model: &'m Model, attributes: &Attributes) -> Option<&'m Entity> {
    let kind = model.table.type_attribute.as_ref().and_then(|name| attributes.get(name));
    let typed = |entity: &&Entity| kind.is_none_or(|kind| entity.type_value == *kind);
    model.entities.iter().filter(typed).find(|entity| has_key_of(model, entity, attributes))
}
