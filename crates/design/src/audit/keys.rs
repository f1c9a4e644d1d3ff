//! The keys of an item, in the table and in indexes: each is the one that its template makes of the attributes.

use super::{Violation, violation};
use crate::item::{Attributes, Item};
use crate::keys::key_mapping::{is_natural, membership, optional_fields};
use crate::model::{Entity, IndexKey, Model, Shard};
use crate::template::{SHARD, Template};
use std::collections::BTreeMap;

/// An item whose keys are checked.
pub(super) struct KeyCheck<'a> {
    pub model: &'a Model,
    pub entity: &'a Entity,
    pub item: &'a Item,
    /// Its attributes, and the values that only its primary key has.
    pub values: &'a Attributes,
    /// Also the values that only its keys in indexes have.
    pub known: &'a Attributes,
}

impl KeyCheck<'_> {
    /// Returns what is wrong with the keys.
    pub fn violations(&self) -> Vec<Violation> {
        let keys = self.model.table.keys.iter().zip(&self.entity.key);
        let shard = self.entity.shard.as_ref();
        let problems = keys.filter_map(|(name, template)| self.mismatch(shard, name, template));
        let mut violations: Vec<Violation> = problems.map(|message| violation("key", message)).collect();
        violations.extend(self.entity.indexes.iter().flat_map(|index_key| self.index_violations(index_key)));
        violations
    }

    fn index_violations(&self, index_key: &IndexKey) -> Vec<Violation> {
        let Some(index) = self.model.index(&index_key.index) else { return Vec::new() };
        let mut optional = optional_fields(self.entity, index_key);
        let belongs = optional.all(|field| self.values.contains_key(field))
            && index_key.when.holds_for_known(self.item, self.values);
        let shard = index_key.shard.as_ref().or(self.entity.shard.as_ref());
        let keys = index.keys.iter().zip(&index_key.key);
        let generated = keys.filter(|(name, template)| !is_natural(self.model, name, template));
        let problem = |(name, template): (&String, &Template)| {
            if belongs {
                return self.mismatch(shard, name, template);
            }
            self.values.contains_key(name).then(|| {
                let (entity, when) = (&self.entity.name, membership(self.entity, index_key));
                format!("{name} must be absent: {} holds {entity} only when {when}", index.name)
            })
        };
        generated.filter_map(problem).map(|message| violation("index", message)).collect()
    }

    /// What is wrong with one key attribute.
    fn mismatch(&self, shard: Option<&Shard>, name: &str, template: &Template) -> Option<String> {
        let entity = self.entity;
        let Some(key) = self.values.get(name) else {
            return Some(format!("{name} is missing: {} requires {template}", entity.name));
        };
        let own = shard.filter(|_| template.has_field(SHARD)).map(|shard| {
            let found = template.matches(key, entity).and_then(|mut values| values.remove(SHARD));
            (shard, found.unwrap_or_default())
        });
        let value_of = |field: &str| match &own {
            Some((_, number)) if field == SHARD => Some(number.as_str()),
            _ => self.values.get(field).map(String::as_str),
        };
        match template.fill_with(value_of) {
            Ok(expected) if expected != *key => Some(format!(
                "{name} is {key}, but the attributes of this {} require {expected}",
                entity.name
            )),
            Ok(_) => wrong_shard(own, name, key, self.known),
            Err(_) if template.matches(key, entity).is_none() => {
                Some(format!("{name} is {key}, but {} requires {template}", entity.name))
            }
            // An attribute that is only part of the key cannot contradict it.
            Err(field) => value_of(&field)
                .map(|value| {
                    format!("{name} is {key}, but {field} is {value}, for which {template} has no key")
                })
                .or_else(|| wrong_shard(own, name, key, self.known)),
        }
    }
}

/// The key attributes of indexes that templates generate, each with the first index that has it.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedKeys(BTreeMap<String, String>);

impl GeneratedKeys {
    pub fn of(model: &Model) -> GeneratedKeys {
        let mut generated = BTreeMap::new();
        for index_key in model.entities.iter().flat_map(|entity| &entity.indexes) {
            let Some(index) = model.index(&index_key.index) else { continue };
            for (name, template) in index.keys.iter().zip(&index_key.key) {
                let is_type = model.table.type_attribute.as_ref() == Some(name);
                if !is_type && !is_natural(model, name, template) {
                    generated.entry(name.clone()).or_insert_with(|| index.name.clone());
                }
            }
        }
        GeneratedKeys(generated)
    }

    /// What is wrong with an item that has such an attribute though neither an index entry nor an attribute of its entity explains it: it would
    /// be in the index, among the items of others. Markers have no entity.
    pub fn strays(&self, model: &Model, entity: Option<&Entity>, item: &Item) -> Vec<Violation> {
        let is_key = |own: &IndexKey, name: &String| {
            model.index(&own.index).is_some_and(|index| index.keys.contains(name))
        };
        let is_explained = |entity: &Entity, name: &String| {
            entity.attribute(name).is_some() || entity.indexes.iter().any(|own| is_key(own, name))
        };
        let strays = self.0.iter().filter(|(name, _)| {
            item.contains_key(*name) && !entity.is_some_and(|entity| is_explained(entity, name))
        });
        let holder = entity.map_or("marker", |entity| &entity.name);
        let message = |(name, index): (&String, &String)| {
            violation("index", format!("{name} must be absent: {index} holds no {holder}"))
        };
        strays.map(message).collect()
    }
}

fn wrong_shard(own: Option<(&Shard, String)>, name: &str, key: &str, known: &Attributes) -> Option<String> {
    let (shard, number) = own?;
    Some(format!("{name} is {key}, but {}", shard.problem(&number, known)?))
}
