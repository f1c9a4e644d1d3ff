//! An entity and its copy: which items belong together, and which values they share.

use super::KEY_SEPARATOR;
use crate::item::{Attributes, Item, Value};
use crate::model::{Entity, Model};
use crate::template::SHARD;
use std::collections::{BTreeMap, BTreeSet};

/// What an original and its copy have in common, and nothing else has.
pub type Pair = Vec<String>;

/// An entity and one of its copies.
#[derive(Clone, Copy, Debug)]
pub struct Copying<'m> {
    /// The entity.
    pub original: &'m Entity,
    /// Its copy; if the original has versions, of the newest.
    pub copy: &'m Entity,
}

impl<'m> Copying<'m> {
    /// Returns all relations in which an entity is original or copy. Without versions, a copy that has an identity of its own exists
    /// for some originals only, and nothing can be compared.
    pub fn of_entity(model: &'m Model, entity: &'m Entity) -> Vec<Copying<'m>> {
        let copies = model.copies_of(&entity.name).filter_map(|copy| Copying::of_copy(model, copy));
        copies.chain(Copying::of_copy(model, entity)).collect()
    }

    /// Returns the relation of a copy to its original, if they can be compared.
    pub fn of_copy(model: &'m Model, copy: &'m Entity) -> Option<Copying<'m>> {
        let original = model.entity(copy.copies.as_deref()?)?;
        let is_compared = copy.latest || !model.has_own_identity(copy) || original.versions.is_some();
        is_compared.then_some(Copying { original, copy })
    }

    /// Returns the relations of several entities, each once.
    pub fn of_entities(model: &'m Model, entities: impl Iterator<Item = &'m Entity>) -> Vec<Copying<'m>> {
        let (mut seen, mut known) = (BTreeSet::new(), BTreeSet::new());
        let entities = entities.filter(|entity| seen.insert(&entity.name));
        let all = entities.flat_map(|entity| Copying::of_entity(model, entity));
        all.filter(|copying| known.insert(&copying.copy.name)).collect()
    }

    /// Returns whether the copy is that of the newest version. One that has the version in its key is a copy of each.
    pub fn is_versioned(&self) -> bool {
        let version = self.original.versions.as_deref();
        version.is_some_and(|version| self.copy.latest || !self.copy.has_key_field(version))
    }

    /// Returns the attributes that identify an original, versions aside: those of its key if the copy has them all.
    fn identity(&self) -> Vec<&'m str> {
        let version = self.original.versions.as_deref();
        match self.original.identity() {
            Some(id) if !self.lacking().is_empty() && Some(id) != version => vec![id],
            _ => self.key_of_versions(),
        }
    }

    /// The attributes of the original's key that all its versions share.
    fn key_of_versions(&self) -> Vec<&'m str> {
        let version = self.original.versions.as_deref().filter(|_| self.is_versioned());
        self.original.key_fields().filter(|name| *name != SHARD && Some(*name) != version).collect()
    }

    /// Returns the attributes of the original's key that the copy lacks, versions aside.
    pub fn lacking(&self) -> Vec<&'m str> {
        let key = self.key_of_versions().into_iter();
        key.filter(|name| self.copy.attribute(name).is_none()).collect()
    }

    /// Returns whether the key of the copy can change: it contains more than what identifies the original.
    pub fn copy_moves(&self) -> bool {
        let identity = self.identity();
        self.copy.key_fields().any(|field| !identity.contains(&field))
    }

    /// Returns whether original and copy can be told to belong together: the key of one follows from the values of the other.
    pub fn is_comparable(&self) -> bool {
        match self.is_versioned() {
            true => self.lacking().is_empty(),
            false => self.locates_copy() || locates(self.copy, self.original),
        }
    }

    /// Returns whether the values of an original determine the key of its copy.
    pub fn locates_copy(&self) -> bool {
        !self.is_versioned() && locates(self.original, self.copy)
    }

    /// Returns the values that identify an original, versions aside, and so its copy.
    pub fn identity_of(&self, values: &Attributes) -> Pair {
        self.identity().into_iter().map(|name| values.get(name).cloned().unwrap_or_default()).collect()
    }

    /// Returns what an original with these values has in common with its copy: the key of the copy, or else the identity. `None` if it has
    /// no copy, because it lacks a value of that key.
    pub fn pair_of_original(&self, values: &Attributes) -> Option<Pair> {
        if self.locates_copy() { self.copy_key(values) } else { Some(self.identity_of(values)) }
    }

    /// Returns what a copy with this key and these values has in common with its original.
    pub fn pair_of_copy(&self, key: &[String], values: &Attributes) -> Pair {
        if self.locates_copy() { key.to_vec() } else { self.identity_of(values) }
    }

    /// Returns what messages call an original and its copy: the key of the copy, or `userId 1, orderId 7`.
    pub fn name_of(&self, pair: &Pair) -> String {
        if self.locates_copy() {
            return pair.join(KEY_SEPARATOR);
        }
        let named = self.identity().into_iter().zip(pair).map(|(name, value)| format!("{name} {value}"));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Returns the values that original and copy share.
    pub fn shared<'i>(&self, item: &'i Item) -> BTreeMap<&'m str, Option<&'i Value>> {
        let shared = self.copy.attributes.iter().map(|attribute| attribute.name.as_str());
        let shared = shared.filter(|name| self.original.attribute(name).is_some());
        shared.map(|name| (name, item.get(name))).collect()
    }

    /// Returns the key of the original of a copy with these values, unless it contains something else.
    pub fn original_key(&self, values: &Attributes) -> Option<Vec<String>> {
        filled_key(self.original, values)
    }

    /// Returns the key of the copy of an original with these values, unless it contains something else.
    pub fn copy_key(&self, values: &Attributes) -> Option<Vec<String>> {
        filled_key(self.copy, values)
    }
}

/// Whether the attributes of one entity determine the key of an item of another.
fn locates(from: &Entity, to: &Entity) -> bool {
    let shard = to.shard.as_ref().filter(|shard| shard.is_computed()).and_then(|shard| shard.by.as_deref());
    to.key_fields().all(|field| {
        let name = if field == SHARD { shard } else { Some(field) };
        name.is_some_and(|name| from.attribute(name).is_some())
    })
}

/// The key of an entity's item with these values.
fn filled_key(entity: &Entity, values: &Attributes) -> Option<Vec<String>> {
    let shard = entity.shard.as_ref().and_then(|shard| shard.required(values));
    let shard = shard.map(|number| (SHARD.to_owned(), number.to_string()));
    let values: Attributes = values.clone().into_iter().chain(shard).collect();
    entity.key.iter().map(|template| template.fill(&values).ok()).collect()
}
