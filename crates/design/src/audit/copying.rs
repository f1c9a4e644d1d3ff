//! An entity and its copy: which items belong together, and which values they share.

use super::KEY_SEPARATOR;
use crate::item::{Attributes, Item, Value};
use crate::model::{Entity, Model};
use crate::template::{Format, Part, SHARD};
use std::collections::{BTreeMap, BTreeSet};

/// What an original and its copy have in common, and nothing else has.
pub type PairKey = Vec<String>;

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
        let is_own = |name: &&str| !is_shard(self.original, name) && Some(*name) != version;
        self.original.key_fields().filter(is_own).collect()
    }

    /// Returns the attributes of the original's key that the copy lacks, versions aside.
    pub fn lacking(&self) -> Vec<&'m str> {
        let key = self.key_of_versions().into_iter();
        key.filter(|name| self.copy.attribute(name).is_none()).collect()
    }

    /// Returns whether the key of the copy can change: it contains more than what identifies the original.
    pub fn copy_moves(&self) -> bool {
        let identity = self.identity();
        let is_identity = |part: &Part| match part {
            Part::Field { name, format } => {
                identity.contains(&name.as_str()) && shows(self.original, name, *format)
            }
            Part::Text(_) => true,
        };
        !self.copy.key.iter().flat_map(|template| &template.parts).all(is_identity)
    }

    /// Returns whether the key of the copy shows as much of an attribute as that of the original does.
    pub fn copy_shows(&self, attribute: &str) -> bool {
        formats(self.original, attribute).all(|format| shows(self.copy, attribute, format))
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

    /// Returns the values that identify an original, versions aside, and so its copy, as the key of the original writes them: times in one
    /// month are one value where it holds the month, and texts that differ in case where it holds them in lower case. `own` is the entity of
    /// the item with this key and these values.
    pub fn identity_of(&self, own: &Entity, key: &[String], values: &Attributes) -> PairKey {
        let text = |name: &str| {
            let value = values.get(name).cloned().or_else(|| text_in(own, key, name));
            self.as_written(name, value.unwrap_or_default())
        };
        self.identity().into_iter().map(text).collect()
    }

    /// The most that the key of the original shows of a value.
    fn as_written(&self, attribute: &str, value: String) -> String {
        if holds_whole(self.original, attribute) {
            return value;
        }
        let texts = formats(self.original, attribute).filter_map(|format| format.apply(&value));
        texts.max_by_key(String::len).unwrap_or(value)
    }

    /// Returns what an original with this key and these values has in common with its copy: the key of the copy, or else the identity.
    /// `None` if it has no copy, because it lacks a value of that key.
    pub fn pair_of_original(&self, key: &[String], values: &Attributes) -> Option<PairKey> {
        match self.locates_copy() {
            true => self.copy_key(values),
            false => Some(self.identity_of(self.original, key, values)),
        }
    }

    /// Returns what a copy with this key and these values has in common with its original.
    pub fn pair_of_copy(&self, key: &[String], values: &Attributes) -> PairKey {
        if self.locates_copy() { key.to_vec() } else { self.identity_of(self.copy, key, values) }
    }

    /// Returns what messages call an original and its copy: the key of the copy, or `userId 1, orderId 7`.
    pub fn name_of(&self, pair: &PairKey) -> String {
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

    /// Returns the key of the original of a copy with these values, if what the copy declares shows it. Other attributes may have any value,
    /// and name no original.
    pub fn original_key(&self, values: &Attributes) -> Option<Vec<String>> {
        located_key(self.copy, self.original, values)
    }

    /// Returns the key of the copy of an original with these values, if what the original declares shows it.
    pub fn copy_key(&self, values: &Attributes) -> Option<Vec<String>> {
        located_key(self.original, self.copy, values)
    }
}

/// How the key of an entity writes an attribute.
fn formats(entity: &Entity, attribute: &str) -> impl Iterator<Item = Format> {
    let parts = entity.key.iter().flat_map(|template| &template.parts);
    parts.filter_map(move |part| match part {
        Part::Field { name, format } if name == attribute => Some(*format),
        _ => None,
    })
}

fn holds_whole(entity: &Entity, attribute: &str) -> bool {
    let mut parts = entity.key.iter().flat_map(|template| &template.parts);
    parts.any(|part| part.holds_whole(attribute, entity))
}

/// Whether the key of an entity shows what a format writes of an attribute.
fn shows(entity: &Entity, attribute: &str, format: Format) -> bool {
    holds_whole(entity, attribute) || formats(entity, attribute).any(|own| own.shows(format))
}

/// The most that a key of an entity shows of an attribute.
fn text_in(entity: &Entity, key: &[String], attribute: &str) -> Option<String> {
    let keys = entity.key.iter().zip(key).filter(|(template, _)| template.has_field(attribute));
    let texts = keys.filter_map(|(template, key)| template.matches(key, entity)?.remove(attribute));
    texts.max_by_key(String::len)
}

/// Whether a field of an entity's key is the number of its shard, and not an attribute of that name.
fn is_shard(entity: &Entity, field: &str) -> bool {
    field == SHARD && entity.shard.is_some()
}

/// The attribute of one entity that shows a field in the key of another one's item.
fn shown_by<'e>(from: &Entity, to: &'e Entity, field: &'e str) -> Option<&'e str> {
    let shard = to.shard.as_ref().filter(|shard| shard.is_computed());
    let name = if is_shard(to, field) { shard?.by.as_deref()? } else { field };
    from.attribute(name).is_some().then_some(name)
}

/// Whether the attributes of one entity determine the key of an item of another.
fn locates(from: &Entity, to: &Entity) -> bool {
    to.key_fields().all(|field| shown_by(from, to, field).is_some())
}

/// The key of an item of an entity that belongs together with an item of another one that has these values.
fn located_key(from: &Entity, to: &Entity, values: &Attributes) -> Option<Vec<String>> {
    if !locates(from, to) {
        return None;
    }
    let shard = to.shard.as_ref().and_then(|shard| shard.required(values)).map(|number| number.to_string());
    let value_of = |field: &str| match is_shard(to, field) {
        true => shard.as_deref(),
        false => values.get(field).map(String::as_str),
    };
    to.key.iter().map(|template| template.fill_with(value_of).ok()).collect()
}
