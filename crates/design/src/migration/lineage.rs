//! What an item in its new form was under the old model, and whether its old key tells what it has become.
//!
//! A new key that holds more than the old one (`T#{team} / A#{id}` where it was `A#{id}`) does not follow from it: an item that is written under its
//! old key again, with other values, gets another new key than before.

use super::contents::key_hash;
use super::image::{Image, NewItem, is_derived, key_of};
use super::{Transition, is_same_value, old_name};
use crate::audit::aggregates::identity;
use crate::audit::known_values;
use crate::item::{Item, Value, attributes};
use crate::model::Entity;
use crate::template::{Format, Part, SHARD};
use std::collections::BTreeSet;

impl<'m> Transition<'m> {
    /// Returns the names of the entities whose new keys do not follow from the old ones.
    pub fn entities_with_free_keys(&self) -> BTreeSet<&'m str> {
        let mut free = BTreeSet::new();
        for before in &self.old.entities {
            let successors: Vec<&Entity> = match self.new.entity(&before.name) {
                Some(same) => vec![same],
                None => self.successors(before).into_iter().map(|(after, _)| after).collect(),
            };
            // Which of several entities an item becomes is not in its key.
            let is_split = successors.len() > 1;
            let is_free =
                |after: &&&Entity| !is_derived(self.new, after) && (is_split || !is_key_fixed(before, after));
            free.extend(successors.iter().filter(is_free).map(|after| after.name.as_str()));
        }
        free
    }

    /// Returns a hash that two items in their new form have in common only if they are made of one item of the old model: they have the same old key
    /// and the same identity. Versions of an item, and its parts in shards, have none.
    pub fn lineage(&self, new_form: &Item) -> Option<u128> {
        let Image::Item(new) = self.image(new_form) else { return None };
        let NewItem { entity, .. } = *new;
        let has_parts = entity.shard.as_ref().is_some_and(|shard| !shard.is_computed());
        if has_parts || entity.versions.is_some() {
            return None;
        }
        let mut common = key_of(self.old, &self.former(new_form)?);
        let values = known_values(self.new, entity, &attributes(new_form));
        let identity = identity(entity, entity, new_form, &values)?.into_iter();
        common.extend(identity.map(|(name, value)| (format!("identity {name}"), Value::String(value))));
        Some(key_hash(&common))
    }

    /// Returns what an item would be under the old model, if it is the new form of one that has another key there.
    pub fn former(&self, new_form: &Item) -> Option<Item> {
        let back = Transition { old: self.new, new: self.old };
        let Image::Item(former) = back.image(new_form) else { return None };
        let has_moved = key_of(self.old, &former.item) != key_of(self.new, new_form);
        (has_moved && self.is_new_form(new_form)).then_some(former.item)
    }

    /// Returns an item of the old model without the attributes that have their computed values, as those have that a migration computed.
    pub fn without_computed(&self, former: &Item) -> Item {
        let Image::Item(present) = self.image(former) else { return former.clone() };
        let mut rest = former.clone();
        for own in present.entity.attributes.iter().filter(|own| own.origin.computed.is_some()) {
            let old = present.before.and_then(|before| old_name(before, present.entity, own));
            let mut without = former.clone();
            without.remove(old.unwrap_or(&own.name));
            let Image::Item(anew) = self.image(&without) else { continue };
            let values = anew.item.get(&own.name).zip(present.item.get(&own.name));
            if values.is_some_and(|(anew, present)| is_same_value(anew, present)) {
                rest.remove(old.unwrap_or(&own.name));
            }
        }
        rest
    }
}

/// Whether the new key of an item follows from its old one.
fn is_key_fixed(before: &Entity, after: &Entity) -> bool {
    let mut fields = after.key.iter().flat_map(|template| &template.parts).filter_map(|part| match part {
        Part::Field { name, format } => Some((name.as_str(), *format)),
        Part::Text(_) => None,
    });
    fields.all(|(field, format)| match &after.shard {
        Some(shard) if field == SHARD => match shard.by.as_deref().filter(|_| shard.is_computed()) {
            Some(by) => is_field_fixed(before, after, by, Format::Plain),
            None => before.shard.as_ref() == Some(shard) && has_field(before, SHARD, Format::Plain),
        },
        _ => is_field_fixed(before, after, field, format),
    })
}

/// Whether the old key of an item shows what its new key holds of an attribute.
fn is_field_fixed(before: &Entity, after: &Entity, field: &str, format: Format) -> bool {
    let old = match after.attribute(field) {
        Some(attribute) => old_name(before, after, attribute),
        None => Some(field),
    };
    old.is_some_and(|old| has_field(before, old, format))
}

/// Whether the key of an entity holds an attribute whole, or as much of it as this format does.
fn has_field(entity: &Entity, field: &str, format: Format) -> bool {
    let mut parts = entity.key.iter().flat_map(|template| &template.parts);
    parts.any(|part| {
        matches!(part, Part::Field { name, format: own } if name == field && (own.is_readable() || own.shows(format)))
    })
}
