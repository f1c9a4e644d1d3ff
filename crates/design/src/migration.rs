//! From one version of a model to the next, item by item: an item of the old model in, what to write for the new one out.
//!
//! An item's entity is known from its keys; its attributes are its own and those that its old keys spell out. New keys are
//! filled from these. Running it again changes nothing: an item that is already as the new model wants it is left alone.

use crate::audit::{MARKER, recognise};
use crate::item::{Attributes, Item, Value, attributes};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Entity, Model};
use crate::random::hash;
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub enum Rewrite {
    /// As the new model wants it.
    Keep,
    /// The same primary key, other index keys or type.
    Put(Item),
    /// Another primary key: the new item and the key of the old one, to be written in one transaction.
    Move { put: Item, delete: Item },
    /// The new model has no such entity; its name.
    Removed(String),
    /// No entity of the old model has such a key, or the new one lacks a value; the reason.
    Unknown(String),
}

pub fn rewrite(old: &Model, new: &Model, item: &Item) -> Rewrite {
    let texts = attributes(item);
    if let Some(key) = marker(old, &texts) {
        return rewrite_marker(old, new, item, key);
    }
    let Some(before) = recognise(old, &texts).or_else(|| recognise(new, &texts)) else {
        return Rewrite::Unknown("no entity has such a key".to_owned());
    };
    let Some(after) = new.entity(&before.name) else {
        return Rewrite::Removed(before.name.clone());
    };
    let values = spelled(&[old, new], before, &texts);
    rebuild(old, new, after, item, &values)
}

/// An item's attributes, and those that its keys spell out.
fn spelled(models: &[&Model], entity: &Entity, texts: &Attributes) -> Attributes {
    let mut values = texts.clone();
    for model in models {
        for location in TableOrIndex::all(model) {
            let mapping = model.entity(&entity.name).and_then(|entity| location.mapping(entity));
            let Some(mapping) = mapping else { continue };
            for (name, template) in location.key_names(model).iter().zip(mapping.key) {
                let found = texts.get(name).and_then(|key| template.matches(key, mapping.entity));
                for (field, value) in found.into_iter().flatten().filter(|(field, _)| field != SHARD) {
                    values.entry(field).or_insert(value);
                }
            }
        }
    }
    values
}

/// Whether what was made of an item still tells its old primary key, shards aside: then nothing else has become the same.
pub fn preserves_origin(old: &Model, new: &Model, item: &Item, made: &Item) -> bool {
    let texts = attributes(item);
    // A marker's key is the same text under other names.
    if marker(old, &texts).is_some() || old.table.keys.iter().all(|key| made.get(key) == item.get(key)) {
        return true;
    }
    let Some(entity) = recognise(old, &texts) else { return false };
    let values = spelled(&[new], entity, &attributes(made));
    old.table.keys.iter().zip(&entity.key).all(|(name, template)| {
        let Some(key) = texts.get(name) else { return false };
        let shard = template.matches(key, entity).and_then(|mut fields| fields.remove(SHARD));
        let known = |field: &str| if field == SHARD { shard.clone() } else { values.get(field).cloned() };
        template.substitute(known) == Template::text(key)
    })
}

/// The key of an item that marks a unique value.
fn marker<'t>(model: &Model, texts: &'t Attributes) -> Option<&'t String> {
    let partition = model.table.keys.first().and_then(|key| texts.get(key));
    partition.filter(|key| key.starts_with(MARKER))
}

/// A marker of a unique value has one text in all its keys.
fn rewrite_marker(old: &Model, new: &Model, item: &Item, key: &str) -> Rewrite {
    if old.table.keys == new.table.keys {
        return Rewrite::Keep;
    }
    let (mut put, mut delete) = (item.clone(), Item::new());
    for name in &old.table.keys {
        delete.extend(put.remove(name).map(|value| (name.clone(), value)));
    }
    put.extend(new.table.keys.iter().map(|name| (name.clone(), Value::String(key.to_owned()))));
    Rewrite::Move { put, delete }
}

fn rebuild(old: &Model, new: &Model, entity: &Entity, item: &Item, values: &Attributes) -> Rewrite {
    let mut made = item.clone();
    let keys = |model: &Model| -> BTreeSet<String> {
        model.indexes.iter().flat_map(|index| index.keys.clone()).chain(model.table.keys.clone()).collect()
    };
    for name in keys(old).union(&keys(new)) {
        if entity.attribute(name).is_none() {
            made.remove(name);
        }
    }
    for location in TableOrIndex::all(new) {
        let Some(mapping) = location.mapping(entity) else { continue };
        if location.index.is_some() && !mapping.includes(values) {
            continue;
        }
        for (position, (name, template)) in location.key_names(new).iter().zip(mapping.key).enumerate() {
            let mut values = values.clone();
            values.insert(SHARD.to_owned(), shard(&mapping, item, name, &values));
            match template.fill(&values) {
                Ok(key) => {
                    made.insert(name.clone(), location.key_value(new, position, key));
                }
                Err(missing) => return Rewrite::Unknown(format!("{} has no {missing}", entity.name)),
            }
        }
    }
    if let Some(name) = &new.table.type_attribute {
        made.insert(name.clone(), Value::String(entity.type_value.clone()));
    }
    if made == *item {
        return Rewrite::Keep;
    }
    let same =
        new.table.keys == old.table.keys && new.table.keys.iter().all(|key| made.get(key) == item.get(key));
    if same {
        return Rewrite::Put(made);
    }
    let delete =
        old.table.keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
    Rewrite::Move { put: made, delete }
}

/// The shard that the item has, if the new number of shards allowances it; otherwise the one that its hash gives.
fn shard(mapping: &KeyMapping<'_>, item: &Item, name: &str, values: &Attributes) -> String {
    let own = match item.get(name) {
        Some(Value::String(key)) => Some(key),
        _ => None,
    };
    let template = mapping.key.iter().find(|template| template.has_field(SHARD));
    let had = own
        .zip(template)
        .and_then(|(key, template)| template.matches(key, mapping.entity))
        .and_then(|mut v| v.remove(SHARD));
    let fits = had.filter(|shard| shard.parse::<u64>().is_ok_and(|number| number < mapping.shards()));
    fits.unwrap_or_else(|| {
        let by = mapping.shard.and_then(|shard| shard.by.as_ref()).and_then(|by| values.get(by));
        let by = by.cloned().unwrap_or_else(|| values.values().cloned().collect());
        (hash(&by) % mapping.shards()).to_string()
    })
}
