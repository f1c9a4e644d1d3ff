//! The values of an item: each is one that its attribute admits, and none that is required is missing.

use super::{Violation, key_text, violation};
use crate::formatting::list;
use crate::generate::typed_value;
use crate::item::{Attributes, Item};
use crate::model::{Attribute, Entity, Model};
use crate::template::FieldTypes;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Checks the attributes of an item; `known` also has those that only its keys contain.
pub(super) fn violations(model: &Model, entity: &Entity, item: &Item, known: &Attributes) -> Vec<Violation> {
    let named = |attribute: &Attribute| {
        let problem = problem(model, entity, attribute, item, known)?;
        let message = format!("{} {}: {problem}", entity.name, key_text(model, known));
        let is_missing = !known.contains_key(&attribute.name) && !item.contains_key(&attribute.name);
        let missing = is_missing.then(|| attribute.name.clone());
        Some(Violation { missing, ..violation("value", message) })
    };
    entity.attributes.iter().filter_map(named).collect()
}

/// What is wrong with an item, or with the marker of an item, that would expire though its entity does not: others would be left without it.
pub(super) fn stray_expiries(model: &Model, entity: &Entity, item: &Item) -> Vec<Violation> {
    let is_stray = |name: &&String| item.contains_key(*name) && !declares_expiry(model, entity, name);
    let message = |name: &String| {
        format!("{name} must be absent: items with it expire, and {} declares no expiry", entity.name)
    };
    let strays = expiries(model).into_iter().filter(is_stray);
    strays.map(|name| violation("value", message(name))).collect()
}

/// The attributes by which items expire.
pub(super) fn expiries(model: &Model) -> BTreeSet<&String> {
    model.table.ttl.iter().chain(model.entities.iter().filter_map(|entity| entity.ttl.as_ref())).collect()
}

/// Returns why items of the table must not expire by an attribute: what belongs to them would be left.
pub fn foreign_expiry(model: &Model, name: &str) -> Option<String> {
    let expected: Vec<&str> = expiries(model).into_iter().map(String::as_str).collect();
    if expected.contains(&name) {
        return None;
    }
    let instead = match expected.as_slice() {
        [] => "the model has no ttl".to_owned(),
        expected => format!("the model's ttl is {}", list(expected)),
    };
    Some(format!("items would expire by {name}, without what belongs to them: {instead}"))
}

/// Whether items of an entity, or those that they are copies of, may have such an attribute.
pub(super) fn declares_expiry(model: &Model, entity: &Entity, name: &str) -> bool {
    let original = entity.copies.as_deref().and_then(|name| model.entity(name));
    [Some(entity), original].into_iter().flatten().any(|own| own.attribute(name).is_some())
}

fn problem(
    model: &Model,
    entity: &Entity,
    attribute: &Attribute,
    item: &Item,
    known: &Attributes,
) -> Option<String> {
    let name = &attribute.name;
    if let Some(value) = item.get(name) {
        return attribute.admits(value, entity.delimiter()).err();
    }
    if let Some(text) = known.get(name) {
        if let Some(need) = model.need_outside_keys(entity, name) {
            return Some(format!("{name} is only in a key, and must be an attribute as well: {need}"));
        }
        return attribute.admits(&typed_value(&attribute.kind, text), entity.delimiter()).err();
    }
    // The absence of an aggregate is for its own rule to judge.
    entity
        .is_required(name)
        .then(|| format!("{name} is missing; \"{}?\" in the model would allow it", attribute.kind.print()))
}

/// Returns the values of an item, and those that only its keys in indexes contain.
pub(super) fn with_index_keys<'v>(
    model: &Model,
    entity: &Entity,
    values: &'v Attributes,
) -> Cow<'v, Attributes> {
    if entity.attributes.iter().all(|attribute| values.contains_key(&attribute.name)) {
        return Cow::Borrowed(values);
    }
    let mut values = values.clone();
    for index_key in &entity.indexes {
        let Some(index) = model.index(&index_key.index) else { continue };
        for (name, template) in index.keys.iter().zip(&index_key.key) {
            if template.fields().all(|field| values.contains_key(field)) {
                continue;
            }
            let found = values.get(name).and_then(|key| template.matches(key, entity));
            for (field, text) in found.into_iter().flatten().filter(|(field, _)| !template.loses(field)) {
                values.entry(field).or_insert(text);
            }
        }
    }
    Cow::Owned(values)
}
