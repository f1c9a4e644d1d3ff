//! One group of items becomes an entity: its name, attributes, keys, index keys and size.

use super::value_types::value_type;
use super::{Group, key_template};
use crate::item::{Item, Value, item_size};
use crate::model::condition::{Condition, Test};
use crate::model::{Attribute, Entity, Expectations, Index, IndexKey, Model};
use crate::template::Template;
use std::collections::BTreeSet;

pub(super) fn infer(group: &Group, items: &[&Item], model: &Model) -> Entity {
    let name = entity_name(group, model);
    let type_value = group.type_value.clone().unwrap_or_else(|| name.clone());
    let mut entity = Entity { type_value, name, attributes: attributes(items, model), ..Entity::default() };
    for key in &model.table.keys {
        let template = key_template::infer(key, items, &mut entity);
        entity.key.push(template);
    }
    for index in &model.indexes {
        let index_key = index_key(index, items, &mut entity, model);
        entity.indexes.extend(index_key);
    }
    let bytes: usize = items.iter().map(|item| item_size(item)).sum();
    entity.expect = Expectations {
        count: Some(items.len() as u64),
        bytes: Some((bytes / items.len()).max(1) as u64),
        ..Expectations::default()
    };
    if entity.identity().is_some_and(|id| !entity.has_key_field(id)) {
        entity.identity = entity.key_fields().map(str::to_owned).collect();
    }
    entity
}

/// All attributes but the type and the keys that are built from templates.
fn attributes(items: &[&Item], model: &Model) -> Vec<Attribute> {
    let is_key = |name: &str| {
        // The attributes of a composite index key are not generated for it.
        let templated = model.indexes.iter().filter(|index| !index.is_composite());
        templated.flat_map(|index| &index.keys).chain(&model.table.keys).any(|key| key == name)
    };
    let names: BTreeSet<&String> = items.iter().flat_map(|item| item.keys()).collect();
    let is_own = |name: &&String| !is_key(name) && Some(*name) != model.table.type_attribute.as_ref();
    let attribute = |name: &String| {
        let values: Vec<&Value> = items.iter().filter_map(|item| item.get(name)).collect();
        let optional = values.len() < items.len();
        Attribute { optional, ..Attribute::new(name, value_type(&values)) }
    };
    names.into_iter().filter(is_own).map(attribute).collect()
}

/// The key of an entity in an index, if any of its items is there.
fn index_key(index: &Index, items: &[&Item], entity: &mut Entity, model: &Model) -> Option<IndexKey> {
    let is_inside = |item: &&&Item| index.keys.iter().all(|key| item.contains_key(key));
    let inside: Vec<&Item> = items.iter().filter(is_inside).copied().collect();
    if inside.is_empty() || index.keys.iter().all(|key| model.table.keys.contains(key)) {
        return None;
    }
    let mut key = Vec::new();
    for (position, name) in index.keys.iter().enumerate() {
        let table = model.table.keys.iter().position(|own| own == name);
        key.push(match table {
            _ if index.is_composite() => Template::field(name),
            Some(own) if own == position || index.local => entity.key[own].clone(),
            _ => key_template::infer(name, &inside, entity),
        });
    }
    let when = if inside.len() < items.len() {
        sparse_condition(&inside, items, entity)
    } else {
        Condition::default()
    };
    let count = (!when.is_empty()).then_some(inside.len() as u64);
    Some(IndexKey { index: index.name.clone(), key, when, shard: None, count, span: 0..0 })
}

/// What the items of a sparse index have in common and the others have not.
fn sparse_condition(inside: &[&Item], all: &[&Item], entity: &Entity) -> Condition {
    let is_inside = |item: &&Item| inside.iter().any(|own| std::ptr::eq(*own, *item));
    let outside: Vec<&Item> = all.iter().copied().filter(|item| !is_inside(item)).collect();
    let text = |item: &Item, name: &str| item.get(name).and_then(Value::to_text);
    for attribute in &entity.attributes {
        let name = &attribute.name;
        let value = text(inside[0], name);
        let same = inside.iter().all(|item| text(item, name) == value);
        if let Some(value) = value.filter(|_| same)
            && outside.iter().all(|item| text(item, name).as_ref() != Some(&value))
        {
            return Condition { tests: vec![Test::Equals(name.clone(), value)] };
        }
    }
    let only_inside = entity.attributes.iter().find(|attribute| {
        inside.iter().all(|item| item.contains_key(&attribute.name))
            && outside.iter().all(|item| !item.contains_key(&attribute.name))
    });
    let tests = only_inside.map(|attribute| Test::Exists(attribute.name.clone())).into_iter().collect();
    Condition { tests }
}

/// A name for a group that no other entity has.
fn entity_name(group: &Group, model: &Model) -> String {
    let parts: Vec<String> =
        group.key_shape.split('/').map(type_name).filter(|part| !part.is_empty()).collect();
    let singleton = ["Metadata", "Profile", "Info"];
    let by_shape = match parts.as_slice() {
        [first, second] if first == second || singleton.contains(&second.as_str()) => first.clone(),
        [first, second] => format!("{first}{second}"),
        [one] => one.clone(),
        _ => "Entity".to_owned(),
    };
    let by_type = type_name(group.type_value.as_ref().unwrap_or(&group.key_shape));
    let preferred = if group.type_value.is_some() { by_type.clone() } else { by_shape.clone() };
    let candidates = [preferred, format!("{by_type}{by_shape}"), by_shape];
    let free = candidates
        .iter()
        .find(|name| !name.is_empty() && !model.entities.iter().any(|entity| entity.name == **name));
    free.cloned().unwrap_or_else(|| format!("Entity{}", model.entities.len() + 1))
}

/// `ORDER` and `order` as a type's name: `Order`.
fn type_name(text: &str) -> String {
    let mut characters = text.chars().filter(|character| character.is_alphanumeric());
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let rest: String = characters.collect();
    let all_caps = rest.chars().all(|character| character.is_uppercase() || character.is_numeric());
    first + &if all_caps { rest.to_lowercase() } else { rest }
}
