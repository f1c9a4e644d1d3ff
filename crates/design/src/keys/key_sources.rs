//! What gives the items of an entity the key attributes of indexes: the table's key, the type, attributes of their own, and keys that are generated
//! for some index. An item that has all key attributes of an index is in it, for whatever purpose it has them.

use super::key_mapping::{is_natural, membership};
use crate::model::condition::Condition;
use crate::model::each_once::each_once;
use crate::model::{Entity, Index, IndexKey, Model, Shard};
use crate::template::{SHARD, Template};
use std::collections::BTreeMap;

/// What gives the items of one entity the key attributes of indexes.
pub(crate) struct KeySources<'m> {
    model: &'m Model,
    entity: &'m Entity,
    /// The declared entries that generate a key attribute, by its name.
    generated: BTreeMap<&'m str, Vec<(&'m IndexKey, &'m Template)>>,
}

/// Key attributes that are generated for the same indexes, and the items that have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presence<'m> {
    /// The key attributes.
    pub keys: Vec<&'m str>,
    /// The indexes: an item has the attributes if it belongs into one of them.
    pub indexes: Vec<&'m str>,
    /// The condition of that.
    pub when: Condition,
}

/// A key attribute as items have it, and those that do.
struct Given<'m> {
    template: Template,
    when: Condition,
    /// The entry that generates it.
    entry: Option<&'m IndexKey>,
}

impl<'m> KeySources<'m> {
    pub fn new(model: &'m Model, entity: &'m Entity) -> KeySources<'m> {
        let mut generated: BTreeMap<&str, Vec<(&IndexKey, &Template)>> = BTreeMap::new();
        for entry in entity.declared_indexes() {
            let names = model.index(&entry.index).map(|index| index.keys.as_slice()).unwrap_or_default();
            for (name, template) in names.iter().zip(&entry.key) {
                if !is_natural(model, name, template) {
                    generated.entry(name).or_default().push((entry, template));
                }
            }
        }
        KeySources { model, entity, generated }
    }

    /// Returns the key that items have in an index which their entity does not mention; `None` if they have none.
    pub fn implied_key(&self, index: &Index) -> Option<IndexKey> {
        let given: Vec<Given<'m>> = index.keys.iter().map(|name| self.given(name)).collect::<Option<_>>()?;
        let when = all_of(&given);
        if !when.is_empty() && !when.is_satisfiable(self.entity) {
            return None;
        }
        let first = given.iter().find_map(|own| own.entry);
        let span = first.map_or(&self.entity.span, |entry| &entry.span).clone();
        let shard = given.iter().find_map(Given::shard).cloned();
        let key = given.into_iter().map(|own| own.template).collect();
        Some(IndexKey { when, shard, is_implied: true, ..IndexKey::new(&index.name, key, span) })
    }

    /// Returns a key attribute that also items have which do not meet the condition of an entry, where nothing keeps them out of its index.
    pub fn leak(&self, entry: &IndexKey, index: &'m Index) -> Option<&'m str> {
        if entry.when.is_empty() || index.keys.iter().any(|name| self.is_only_for(name, entry)) {
            return None;
        }
        let given: Vec<Given<'m>> = index.keys.iter().map(|name| self.given(name)).collect::<Option<_>>()?;
        let anyway = IndexKey { when: all_of(&given), ..entry.clone() };
        if membership(self.entity, &anyway).implies(&entry.when, self.entity) {
            return None;
        }
        let shared = given.iter().position(|own| own.entry.is_some()).unwrap_or_default();
        index.keys.get(shared).map(String::as_str)
    }

    /// Returns another index for which a key attribute is generated.
    pub fn also_for(&self, name: &str, entry: &IndexKey) -> Option<&'m str> {
        let entries = self.generated.get(name).into_iter().flatten();
        entries.map(|(other, _)| other.index.as_str()).find(|other| *other != entry.index)
    }

    /// Returns which items have some of the generated key attributes.
    pub fn presences(&self, is_asked: impl Fn(&str) -> bool) -> Vec<Presence<'m>> {
        let mut keys: BTreeMap<Vec<&'m str>, Vec<&'m str>> = BTreeMap::new();
        for (name, entries) in self.generated.iter().filter(|(name, _)| is_asked(name)) {
            let indexes = entries.iter().map(|(entry, _)| entry.index.as_str()).collect();
            keys.entry(indexes).or_default().push(name);
        }
        let when = |keys: &[&str]| self.given(keys[0]).map(|own| own.when).unwrap_or_default();
        keys.into_iter().map(|(indexes, keys)| Presence { when: when(&keys), indexes, keys }).collect()
    }

    /// Returns whether all items have a key attribute, since an index that holds all of them needs it.
    pub fn is_always_generated(&self, name: &str) -> bool {
        let mut entries = self.generated.get(name).into_iter().flatten();
        entries.any(|(entry, _)| membership(self.entity, entry).is_empty())
    }

    /// Whether a key attribute is generated for one entry only.
    fn is_only_for(&self, name: &str, entry: &IndexKey) -> bool {
        self.generated.contains_key(name) && self.also_for(name, entry).is_none()
    }

    /// A key attribute as items have it, if they have it. That an attribute of theirs may be absent is no part of the condition.
    fn given(&self, name: &str) -> Option<Given<'m>> {
        let everywhere = |template| Given { template, when: Condition::default(), entry: None };
        let position = self.model.table.keys.iter().position(|key| key == name);
        if let Some(position) = position {
            return self.entity.key.get(position).cloned().map(everywhere);
        }
        if self.entity.attribute(name).is_some() {
            return Some(everywhere(Template::field(name)));
        }
        if self.model.table.type_attribute.as_deref() == Some(name) {
            return Some(everywhere(Template::text(&self.entity.type_value)));
        }
        let entries = self.generated.get(name)?;
        let (first, template) = *entries.first()?;
        let each = entries.iter().map(|(entry, _)| membership(self.entity, entry));
        Some(Given { template: template.clone(), when: any_of(each.collect()), entry: Some(first) })
    }
}

impl<'m> Given<'m> {
    fn shard(&self) -> Option<&'m Shard> {
        self.entry.filter(|_| self.template.has_field(SHARD))?.shard.as_ref()
    }
}

fn all_of(given: &[Given<'_>]) -> Condition {
    given.iter().fold(Condition::default(), |all, own| all.and(&own.when))
}

fn any_of(conditions: Vec<Condition>) -> Condition {
    let mut conditions: Vec<Condition> = each_once(&conditions).cloned().collect();
    match conditions.iter().position(Condition::is_empty) {
        Some(_) => Condition::default(),
        None if conditions.len() == 1 => conditions.remove(0),
        None => Condition::Any(conditions),
    }
}
