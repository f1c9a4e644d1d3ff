//! Checks items against a model: their type, their keys, and their index keys. The server applies the rules to what each write results in,
//! together with the other writes of its transaction (`judge`), the command line to whole tables (`table`). What one accepts, the other
//! accepts. `observed_read` and `attribution` recognise the declared pattern or write of a request.

pub mod aggregates;
pub mod attribution;
pub(crate) mod copying;
pub mod effort;
pub(crate) mod fingerprint;
pub mod judge;
pub(crate) mod keys;
pub mod observed_read;
mod request;
pub mod rules;
mod span;
mod stale;
pub mod table;
mod values;

pub use request::{EntityWrite, ItemChange};
pub use stale::{StaleKey, stale_keys};
pub use values::foreign_expiry;

use crate::finding::closest;
use crate::formatting::list;
use crate::item::{Attributes, Item, Value, attributes as texts_of};
use crate::model::decimal::Decimal;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model};
use crate::template::{FieldTypes, Format, SHARD, Template};
use keys::KeyCheck;
use std::collections::BTreeSet;

/// The prefix of the keys of marker items, which keep values unique and belong to no entity.
pub const MARKER: &str = "UNIQUE#";

/// What separates the attributes of a key in messages.
const KEY_SEPARATOR: &str = " / ";

/// Returns the key of the item that keeps values unique, its partition key and, if the table has one, its sort key; `None` if an
/// attribute is absent, which leaves nothing to keep unique.
///
/// The marker of one attribute is `UNIQUE#User#email#a@b`, that of several `UNIQUE#Page#tenantId,slug#t1#about`, with `#` and `%` in
/// the values escaped.
pub fn marker(entity: &Entity, unique: &[String], attributes: &Attributes) -> Option<String> {
    let values: Option<Vec<&String>> = unique.iter().map(|name| attributes.get(name)).collect();
    let text = match values?.as_slice() {
        [one] => (*one).clone(),
        several => {
            several.iter().filter_map(|value| Format::Escaped.apply(value)).collect::<Vec<_>>().join("#")
        }
    };
    Some(format!("{MARKER}{}#{}#{text}", entity.name, unique.join(",")))
}

/// Returns the item with the key of a marker.
pub fn marker_item(model: &Model, key: &str) -> Item {
    model.table.keys.iter().map(|name| (name.clone(), Value::String(key.to_owned()))).collect()
}

/// Returns the marker of a unique value of an item. It expires when the item does.
pub fn marker_of(model: &Model, entity: &Entity, item: &Item, key: &str) -> Item {
    let mut marker = marker_item(model, key);
    let expiry = entity.ttl.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
    marker.extend(expiry);
    marker
}

/// Returns when an item of an entity, or a marker of its values, expires. Only numbers are such times.
pub(crate) fn expiry_of(entity: &Entity, item: &Item) -> Option<String> {
    let value = item.get(entity.ttl.as_ref()?)?;
    matches!(value, Value::Number(_)).then(|| value.to_text()).flatten()
}

/// A rule that a write breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule: `type`, `key`, `index`, `value`, `unique`, `copy`, `version`, `lock` or `aggregate`.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// The attribute whose absence is wrong, if that is all.
    pub missing: Option<String>,
}

fn violation(rule: &'static str, message: String) -> Violation {
    Violation { rule, message, missing: None }
}

/// Checks a whole item.
pub fn check_item(model: &Model, item: &Item) -> Vec<Violation> {
    let attributes = &texts_of(item);
    check_recognised(model, item, attributes, recognise(model, attributes))
}

/// Checks an item of the entity that its type and key show.
fn check_recognised(
    model: &Model,
    item: &Item,
    attributes: &Attributes,
    entity: Option<&Entity>,
) -> Vec<Violation> {
    if is_in_marker_partition(model, attributes) {
        let strays = model.lookup().generated_keys(model).strays(model, None, item);
        let owner = marker_owner(model, attributes);
        let expiries = owner.map(|owner| values::stray_expiries(model, owner, item)).unwrap_or_default();
        return misplaced_marker(model, attributes).into_iter().chain(strays).chain(expiries).collect();
    }
    let entities: Vec<&Entity> = match candidates(model, attributes) {
        Ok(entities) => entities,
        Err(violation) => return vec![violation],
    };
    let Some(entity) = entity else {
        let wanted: Vec<String> =
            entities.iter().map(|entity| format!("{} ({})", entity.name, key_templates(entity))).collect();
        return vec![violation(
            "key",
            format!("{} is not a key of {}", key_text(model, attributes), list(&wanted)),
        )];
    };
    let values = known_values(model, entity, attributes);
    let known = values::with_index_keys(model, entity, &values);
    let keys = KeyCheck { model, entity, item, values: &values, known: &known };
    let mut violations = keys.violations();
    violations.extend(model.lookup().generated_keys(model).strays(model, Some(entity), item));
    let version = entity.versions.as_ref().and_then(|name| values.get(name));
    if let Some(version) = version.filter(|text| !text.parse().is_ok_and(|number: i64| number > 0)) {
        let message = format!("{version} is not a version of {}: versions count from 1", entity.name);
        violations.push(violation("version", message));
    }
    violations.extend(values::violations(model, entity, item, &known));
    violations.extend(values::stray_expiries(model, entity, item));
    violations
}

/// Returns the attributes of an item, and the values that only its key has.
pub(crate) fn known_values(model: &Model, entity: &Entity, attributes: &Attributes) -> Attributes {
    let mut values = attributes.clone();
    let is_shard = |field: &String| field == SHARD && entity.shard.is_some();
    for (name, template) in model.table.keys.iter().zip(&entity.key) {
        if template.fields().all(|field| values.contains_key(field)) {
            continue;
        }
        let found = attributes.get(name).and_then(|key| template.matches(key, entity));
        // A shard belongs to one key, and some formats lose a part of the value.
        let whole =
            found.into_iter().flatten().filter(|(field, _)| !is_shard(field) && !template.loses(field));
        for (field, value) in whole {
            values.entry(field).or_insert(value);
        }
    }
    values
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

fn is_in_marker_partition(model: &Model, attributes: &Attributes) -> bool {
    marker_owner(model, attributes).is_some()
}

/// The entity whose values an item in the partition of a marker keeps unique.
fn marker_owner<'m>(model: &'m Model, attributes: &Attributes) -> Option<&'m Entity> {
    let partition = model.table.keys.first().and_then(|key| attributes.get(key));
    partition.and_then(|key| owner_of_marker(model, key))
}

/// Returns the text of a marker with this key: all its attributes have it. Other items of its partition are no markers.
pub(crate) fn marker_key<'k, S: AsRef<str>>(model: &Model, key: &'k [S]) -> Option<&'k str> {
    let (first, rest) = key.split_first()?;
    let text = marker_text(model, first.as_ref())?;
    rest.iter().all(|other| other.as_ref() == text).then_some(text)
}

/// Returns a partition key that is a marker's.
pub(crate) fn marker_text<'k>(model: &Model, key: &'k str) -> Option<&'k str> {
    owner_of_marker(model, key).map(|_| key)
}

/// Returns the entity whose values a partition of markers keeps unique.
pub(crate) fn owner_of_marker<'m>(model: &'m Model, key: &str) -> Option<&'m Entity> {
    let rest = key.strip_prefix(MARKER)?;
    let (entity, rest) = rest.split_once('#')?;
    let owner = model.entity(entity)?;
    let own = |names: &Vec<String>| {
        rest.strip_prefix(names.join(",").as_str()).is_some_and(|value| value.starts_with('#'))
    };
    owner.unique.iter().any(own).then_some(owner)
}

/// Returns the keys of the markers that an item has; `values` also has those that only its key contains. Null is no value.
pub(crate) fn markers(entity: &Entity, item: &Item, values: &Attributes) -> BTreeSet<String> {
    let has_values = |unique: &&Vec<String>| unique.iter().all(|name| item.get(name) != Some(&Value::Null));
    let unique = entity.unique.iter().filter(has_values);
    unique.filter_map(|unique| marker(entity, unique, values)).collect()
}

/// All keys of a marker are the same text.
fn misplaced_marker(model: &Model, attributes: &Attributes) -> Option<Violation> {
    let mut keys = model.table.keys.iter().map(|name| attributes.get(name));
    let partition = keys.next().flatten()?;
    let wrong = keys.any(|key| key != Some(partition));
    wrong.then(|| {
        let message =
            format!("{} is not a marker: all its keys must be {partition}", key_text(model, attributes));
        violation("key", message)
    })
}

fn has_key_of(model: &Model, entity: &Entity, attributes: &Attributes) -> bool {
    let keys = || model.table.keys.iter().zip(&entity.key);
    // The texts that keys start with tell most entities apart, and take little time to compare.
    let starts = |(name, template): (&String, &Template)| {
        attributes.get(name).is_some_and(|key| key.starts_with(template.prefix()))
    };
    let is_own = |(name, template): (&String, &Template)| {
        attributes.get(name).is_some_and(|key| is_key_of(entity, template, key))
    };
    keys().all(starts) && keys().all(is_own)
}

/// Returns whether a key is the one that its template makes of the values in it: a number has one spelling.
fn is_key_of(entity: &Entity, template: &Template, key: &str) -> bool {
    let Some(values) = template.matches(key, entity) else { return false };
    let is_canonical = |(field, text): (&String, &String)| {
        let is_number = entity.type_of(field).is_some_and(ValueType::is_number);
        let has_one_spelling = is_number && !template.loses(field);
        !has_one_spelling || Decimal::parse(text).is_some_and(|number| number.to_string() == *text)
    };
    values.iter().all(is_canonical) && template.fill(&values).is_ok_and(|made| made == key)
}

fn key_templates(entity: &Entity) -> String {
    entity.key.iter().map(Template::to_string).collect::<Vec<_>>().join(KEY_SEPARATOR)
}

fn key_text(model: &Model, attributes: &Attributes) -> String {
    let values = model.table.keys.iter().filter_map(|key| attributes.get(key).map(String::as_str));
    values.collect::<Vec<_>>().join(KEY_SEPARATOR)
}

/// Returns the entity that an item belongs to, by its type, if it has one, and its key. A marker belongs to none.
pub fn recognise<'m>(model: &'m Model, attributes: &Attributes) -> Option<&'m Entity> {
    if is_in_marker_partition(model, attributes) {
        return None;
    }
    let kind = model.table.type_attribute.as_ref().and_then(|name| attributes.get(name));
    let typed = |entity: &&Entity| kind.is_none_or(|kind| entity.type_value == *kind);
    model.entities.iter().filter(typed).find(|entity| has_key_of(model, entity, attributes))
}
