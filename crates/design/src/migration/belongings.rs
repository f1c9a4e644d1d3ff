//! The markers and copies of an item that is left alone. Its key and its attributes may contradict each other, or neither may be enough for an entity:
//! whatever one of them says is kept.

use super::Transition;
use super::companions::{MAX_DEPTH, key_with};
use crate::audit::copying::Copying;
use crate::audit::{known_values, marker_item, markers};
use crate::item::{Attributes, Item, attributes};
use crate::model::{Entity, Model};
use crate::template::{SHARD, Template};

impl Transition<'_> {
    /// Returns the keys of the markers and copies that an item may have, in the old form and in the new one.
    pub fn belongings(&self, item: &Item) -> Vec<Item> {
        let (texts, mut keys) = (attributes(item), Vec::new());
        for model in [self.old, self.new] {
            for entity in model.entities.iter().filter(|entity| may_be_of(model, entity, &texts)) {
                let in_key = key_values(model, entity, &texts);
                for values in [known_values(model, entity, &texts), in_key] {
                    add_keys(model, entity, (item, &values), MAX_DEPTH, &mut keys);
                }
            }
        }
        keys
    }
}

/// Whether the type of an item is that of an entity, or a part of its key one of the entity's.
fn may_be_of(model: &Model, entity: &Entity, texts: &Attributes) -> bool {
    let kind = model.table.type_attribute.as_ref().and_then(|name| texts.get(name));
    let is_own = |(name, template): (&String, &Template)| {
        texts.get(name).is_some_and(|key| template.matches(key, entity).is_some())
    };
    kind == Some(&entity.type_value) || model.table.keys.iter().zip(&entity.key).any(is_own)
}

/// The attributes of an item, with the values that its key has of them.
fn key_values(model: &Model, entity: &Entity, texts: &Attributes) -> Attributes {
    let mut values = texts.clone();
    for (name, template) in model.table.keys.iter().zip(&entity.key) {
        let found = texts.get(name).and_then(|key| template.matches(key, entity)).unwrap_or_default();
        values.extend(found.into_iter().filter(|(field, _)| field != SHARD && !template.loses(field)));
    }
    values
}

fn add_keys(
    model: &Model,
    entity: &Entity,
    (item, values): (&Item, &Attributes),
    depth: u32,
    keys: &mut Vec<Item>,
) {
    let own = markers(entity, item, values).into_iter().map(|key| marker_item(model, &key));
    let copies: Vec<&Entity> = match depth {
        0 => Vec::new(),
        _ => model.copies_of(&entity.name).filter(|copy| Copying::of_copy(model, copy).is_some()).collect(),
    };
    let of_copies = copies.iter().filter_map(|copy| key_with(model, copy, values));
    for key in own.chain(of_copies) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    copies.into_iter().for_each(|copy| add_keys(model, copy, (item, values), depth - 1, keys));
}
