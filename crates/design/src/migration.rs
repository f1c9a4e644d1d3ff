//! Migrates items from one version of a model to the next: returns what to write for each item.
//!
//! The entity of an item is recognised by its keys. Its attributes are its own and those contained in its old keys; the new keys are filled
//! from these. Migration is idempotent: an item that already matches the new model is kept.

use crate::audit::{MARKER, recognise};
use crate::item::{Attributes, Item, Value, attributes};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Entity, Model};
use crate::random::hash;
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

/// What to write for an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Rewrite {
    /// Nothing: it matches the new model.
    Keep,
    /// The same primary key with other index keys or another type.
    Put(Item),
    /// Another primary key; both writes belong in one transaction.
    Move {
        /// The new item.
        put: Item,
        /// The key of the old item.
        delete: Item,
    },
    /// Nothing: the new model has no such entity. Contains its name.
    Removed(String),
    /// Nothing: no entity of the old model has such a key, or the new one needs a value that is missing. Contains the
    /// reason.
    Unknown(String),
}

/// Returns what to write for an item.
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
    let values = all_attributes(&[old, new], before, &texts);
    rebuild(old, new, after, item, &values)
}

/// An item's attributes, and those contained in its keys.
fn all_attributes(models: &[&Model], entity: &Entity, texts: &Attributes) -> Attributes {
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

/// Returns whether the old primary key, shards aside, can be derived from the new item, so that no other item can have
/// become the same.
pub fn preserves_origin(old: &Model, new: &Model, item: &Item, rewritten: &Item) -> bool {
    let texts = attributes(item);
    // The key of a marker does not change, only its attributes' names.
    if marker(old, &texts).is_some() || old.table.keys.iter().all(|key| rewritten.get(key) == item.get(key)) {
        return true;
    }
    let Some(entity) = recognise(old, &texts) else { return false };
    let values = all_attributes(&[new], entity, &attributes(rewritten));
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

/// A marker has the same text in all its keys.
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
    let mut rewritten = item.clone();
    let keys = |model: &Model| -> BTreeSet<String> {
        model.indexes.iter().flat_map(|index| index.keys.clone()).chain(model.table.keys.clone()).collect()
    };
    for name in keys(old).union(&keys(new)) {
        if entity.attribute(name).is_none() {
            rewritten.remove(name);
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
                    rewritten.insert(name.clone(), location.key_value(new, position, key));
                }
                Err(missing) => return Rewrite::Unknown(format!("{} has no {missing}", entity.name)),
            }
        }
    }
    if let Some(name) = &new.table.type_attribute {
        rewritten.insert(name.clone(), Value::String(entity.type_value.clone()));
    }
    if rewritten == *item {
        return Rewrite::Keep;
    }
    let same = new.table.keys == old.table.keys
        && new.table.keys.iter().all(|key| rewritten.get(key) == item.get(key));
    if same {
        return Rewrite::Put(rewritten);
    }
    let delete =
        old.table.keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
    Rewrite::Move { put: rewritten, delete }
}

/// The shard that the item has, if the new number of shards permits it; otherwise the one that its hash selects.
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
