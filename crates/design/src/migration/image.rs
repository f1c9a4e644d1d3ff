//! What an item becomes under another model, with the markers of its unique values and its copies.

use super::normal_form::normal_value;
use super::values::{Values, generated_names, made_names, new_keys};
use super::{Transition, companions, storable};
use crate::audit::copying::Copying;
use crate::audit::{check_item, known_values, marker_text, recognise};
use crate::item::{Attributes, Item, Value, attributes};
use crate::model::{Entity, Model};
use crate::template::SHARD;

/// What an item becomes.
#[derive(Clone, Debug)]
pub enum Image<'m> {
    /// An item of the new model, and what is written with it.
    Item(Box<NewItem<'m>>),
    /// The marker of a unique value.
    Marker,
    /// A copy, which is made from its original.
    Copy {
        /// What it is in the new model.
        entity: &'m Entity,
        /// Whether it is a copy already and has no values of its own: without an original it is of no use.
        is_redundant: bool,
    },
    /// A copy that the new model does not have: its original has all its values.
    Dropped,
    /// Nothing: the new model has no such entity. Contains its name.
    Removed(String),
    /// Nothing: no entity of the old model has such a key, or the new one needs a value that is missing. Contains the
    /// reason.
    Unknown(String),
}

/// An item of the new model, and what is written with it.
#[derive(Clone, Debug)]
pub struct NewItem<'m> {
    /// Its entity.
    pub entity: &'m Entity,
    /// Its entity in the old model.
    pub before: Option<&'m Entity>,
    /// The item.
    pub item: Item,
    /// Attributes that the new model requires, that the old one does not have, and that nothing gives a value.
    pub missing: Vec<String>,
    /// The markers of its unique values, and its copies.
    pub companions: Vec<Companion<'m>>,
    /// The keys, in the old table, of markers that it no longer needs.
    pub obsolete: Vec<Item>,
}

/// A marker or a copy that belongs to an item.
#[derive(Clone, Debug)]
pub struct Companion<'m> {
    /// The entity of a copy; `None` is a marker.
    pub entity: Option<&'m Entity>,
    /// The marker, or the copy as far as it is made from the original.
    pub item: Item,
    /// Its key in the old table.
    pub old_key: Option<Item>,
    /// The version of the original, if only the newest has a copy.
    pub version: Option<f64>,
}

impl<'m> Transition<'m> {
    /// Returns what an item becomes. It may have its new form already.
    pub fn image(&self, item: &Item) -> Image<'m> {
        self.image_of(item, true)
    }

    /// Returns what an item becomes in another table. It may have its new form, from an earlier migration of its table, only if the keys have the
    /// same names; and if the new model has no types, only without one of the old model.
    pub fn image_elsewhere(&self, item: &Item) -> Image<'m> {
        let (old, new) = (&self.old.table, &self.new.table);
        let former_type = old.type_attribute.as_ref().filter(|_| new.type_attribute.is_none());
        let has_type = former_type.is_some_and(|name| item.contains_key(name));
        self.image_of(item, old.keys == new.keys && !has_type)
    }

    fn image_of(&self, item: &Item, may_be_new: bool) -> Image<'m> {
        let texts = attributes(item);
        if is_marker(self.old, &texts) || (may_be_new && is_marker(self.new, &texts)) {
            return Image::Marker;
        }
        let (before, after) = match self.entities(item, &texts, may_be_new) {
            Ok(pair) => pair,
            Err(image) => return image,
        };
        if is_derived(self.new, after) {
            return Image::Copy { entity: after, is_redundant: self.is_redundant_copy(after, item, &texts) };
        }
        let values = Values::new(self, before, after, item, &texts);
        let made = match self.contradiction(before, after, &texts, &values) {
            Some(reason) => Err(reason),
            None => self.new_item(before, after, item, values),
        };
        made.map_or_else(Image::Unknown, |new| Image::Item(Box::new(new)))
    }

    /// What an item or a copy is in the new model under the key that it has; `None` if it has no form there.
    pub(super) fn form_at_same_key(&self, item: &Item) -> Option<Item> {
        let texts = attributes(item);
        if is_marker(self.old, &texts) || is_marker(self.new, &texts) {
            return None;
        }
        let (before, after) = self.entities(item, &texts, true).ok()?;
        let values = Values::new(self, before, after, item, &texts);
        if self.contradiction(before, after, &texts, &values).is_some() {
            return None;
        }
        let formed = new_keys(self, before, after, item, &values).ok()?;
        (key_of(self.new, &formed) == key_of(self.old, item)).then_some(formed)
    }

    /// The entity of an item that has an attribute under its old name and under its new one, with different values, and these names.
    pub(super) fn names_of_one(&self, item: &Item) -> Option<(&'m Entity, (String, String))> {
        let texts = attributes(item);
        let (before, after) = self.entities(item, &texts, true).ok()?;
        Some((after, Values::new(self, before, after, item, &texts).contradiction?))
    }

    /// Makes the item of the new model from the values of the old one.
    fn new_item(
        &self,
        before: Option<&'m Entity>,
        after: &'m Entity,
        item: &Item,
        values: Values,
    ) -> Result<NewItem<'m>, String> {
        let keyed = new_keys(self, before, after, item, &values)?;
        let is_moved = key_of(self.new, &keyed) != key_of(self.old, item);
        if let Some(unclear) = values.unclear.as_ref().filter(|_| is_moved) {
            return Err(format!("{} has its {unclear}", after.name));
        }
        let (companions, obsolete) = companions::of(self, before, after, &keyed, &values);
        match self.unstorable(after, &keyed, &companions) {
            Some(obstacle) => Err(obstacle),
            None => {
                let missing = values.missing;
                Ok(NewItem { entity: after, before, item: keyed, missing, companions, obsolete })
            }
        }
    }

    /// How the values of an item contradict each other: whichever is right, the other would be lost.
    fn contradiction(
        &self,
        before: Option<&Entity>,
        after: &Entity,
        texts: &Attributes,
        values: &Values,
    ) -> Option<String> {
        let both = values.contradiction.as_ref().map(|(old, new)| {
            let entity = &after.name;
            format!(
                "{entity} has both {old} and {new}, its new name, with different values: remove one of them"
            )
        });
        let agrees = before.is_some_and(|before| has_key_of_values(self.old, before, texts))
            || has_key_of_values(self.new, after, texts);
        let disagree =
            || format!("the key of {} and its attributes disagree: correct one of them", after.name);
        both.or_else(|| (!agrees).then(disagree))
    }

    /// Why the new table cannot store an item, or what is written with it.
    fn unstorable(&self, after: &Entity, item: &Item, companions: &[Companion<'_>]) -> Option<String> {
        let name = &after.name;
        let own = storable::obstacle(self.new, item).map(|why| format!("{name} in its new form {why}"));
        own.or_else(|| {
            companions.iter().find_map(|companion| {
                let what = companion.entity.map_or("the marker of a unique value", |copy| &copy.name);
                storable::obstacle(self.new, &companion.item).map(|why| format!("{what} of {name} {why}"))
            })
        })
    }

    /// Returns whether an item becomes itself, with more attributes at most. What an item becomes must do so, or it would change again whenever it is met.
    pub fn is_new_form(&self, item: &Item) -> bool {
        matches!(self.image(item), Image::Item(new) if is_within(item, &new.item))
    }

    /// The entity of an item in the old model, if it has one there, and in the new model. An item that the old model recognises is
    /// in its new form already only if it conforms to the new model and not to the old.
    fn entities(
        &self,
        item: &Item,
        texts: &Attributes,
        may_be_new: bool,
    ) -> Result<(Option<&'m Entity>, &'m Entity), Image<'m>> {
        let after = recognise(self.new, texts).filter(|_| may_be_new);
        let Some(before) = recognise(self.old, texts) else {
            let unknown = |reason: &str| Image::Unknown(reason.to_owned());
            let after = after.ok_or_else(|| unknown("no entity has such a key and such a type"))?;
            if !has_type_of(self.new, after, texts) {
                let reason = "the old model has no such key, and without a type they are not of the new one";
                return Err(unknown(reason));
            }
            return Ok((self.predecessor(after), after));
        };
        let values = known_values(self.old, before, texts);
        let successor = self.successor(before, &values).map_err(Image::Unknown)?;
        if let Some(after) = after
            && successor.is_none_or(|successor| successor.name != after.name)
            && self.conforms_to_new_only(item)
        {
            return Ok((self.predecessor(after), after));
        }
        successor.map(|after| (Some(before), after)).ok_or_else(|| {
            if !has_type_of(self.old, before, texts) {
                let name = &before.name;
                return Image::Unknown(format!(
                    "they have a key of {name}, which the new model does not have, but not its type"
                ));
            }
            match is_redundant(self.old, before, item) {
                true => Image::Dropped,
                false => Image::Removed(before.name.clone()),
            }
        })
    }

    fn conforms_to_new_only(&self, item: &Item) -> bool {
        check_item(self.new, item).is_empty() && !check_item(self.old, item).is_empty()
    }

    /// What an item that becomes a copy was copied to under the old model, if it was a copy there. Only its type tells that from an item of the
    /// application with such a key.
    pub(super) fn former_copy(&self, texts: &Attributes) -> Option<&'m Entity> {
        let before = recognise(self.old, texts)?;
        (is_derived(self.old, before) && has_type_of(self.old, before, texts)).then_some(before)
    }

    /// Whether an item that becomes a copy was one, in its old form or its new one, and has no values of its own.
    fn is_redundant_copy(&self, after: &Entity, item: &Item, texts: &Attributes) -> bool {
        let is_new = || self.is_new_copy(after, item, texts);
        match self.former_copy(texts) {
            Some(before) => {
                is_redundant(self.old, before, item) || (is_redundant(self.new, after, item) && is_new())
            }
            None => self.has_declared_only(after, item) && is_new(),
        }
    }

    /// Whether an item is a copy, but not one of the old model any more.
    pub(super) fn is_new_copy(&self, copy: &Entity, item: &Item, texts: &Attributes) -> bool {
        let is_outdated = |before| is_derived(self.old, before) && self.conforms_to_new_only(item);
        recognise(self.old, texts).is_none_or(is_outdated) && self.may_be_new_copy(copy, item, texts)
    }

    /// Whether an item may be a copy in its new form: its type shows it, or that it has no other attributes.
    pub(super) fn may_be_new_copy(&self, copy: &Entity, item: &Item, texts: &Attributes) -> bool {
        let is_marked = self.new.table.type_attribute.is_some() && has_type_of(self.new, copy, texts);
        let found = recognise(self.new, texts).filter(|_| is_marked || self.has_declared_only(copy, item));
        found.is_some_and(|found| found.name == copy.name)
    }

    /// Whether an item has nothing but what the new model generates or declares for an entity.
    fn has_declared_only(&self, entity: &Entity, item: &Item) -> bool {
        let generated = generated_names(self.new, entity);
        item.keys().all(|name| generated.contains(name.as_str()) || entity.attribute(name).is_some())
    }
}

impl NewItem<'_> {
    /// Returns its key in the new table.
    pub fn key(&self, new: &Model) -> Item {
        key_of(new, &self.item)
    }
}

/// Whether an item has the key that follows from its attributes under a model.
fn has_key_of_values(model: &Model, entity: &Entity, texts: &Attributes) -> bool {
    let values = known_values(model, entity, texts);
    model.table.keys.iter().zip(&entity.key).all(|(name, template)| {
        let Some(key) = texts.get(name) else { return false };
        let Some(in_key) = template.matches(key, entity) else { return false };
        let value_of = |field: &str| if field == SHARD { in_key.get(field) } else { values.get(field) };
        // What the attributes do not hold whole is not compared.
        let made = template.fill_with(|field| value_of(field).map(String::as_str));
        made.is_ok_and(|made| made == *key) || template.fields().any(|field| !values.contains_key(field))
    })
}

/// Returns whether the second item has all attributes of the first, with the same values.
fn is_within(item: &Item, other: &Item) -> bool {
    let is_there = |(name, value): (&String, &Value)| {
        other.get(name).is_some_and(|other| normal_value(other) == normal_value(value))
    };
    item.iter().all(is_there)
}

/// Returns the primary key of an item.
pub fn key_of(model: &Model, item: &Item) -> Item {
    let keys = model.table.keys.iter();
    keys.filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect()
}

pub(super) fn is_marker(model: &Model, texts: &Attributes) -> bool {
    let partition = model.table.keys.first().and_then(|key| texts.get(key));
    partition.is_some_and(|key| marker_text(model, key).is_some())
}

/// Whether an item has the type of an entity, if the model has types. A key alone may be the application's.
fn has_type_of(model: &Model, entity: &Entity, texts: &Attributes) -> bool {
    let name = model.table.type_attribute.as_ref();
    name.is_none_or(|name| texts.get(name) == Some(&entity.type_value))
}

/// Whether an item of a model is a copy that has no values of its own.
fn is_redundant(model: &Model, entity: &Entity, item: &Item) -> bool {
    let original = entity.copies.as_deref().and_then(|name| model.entity(name));
    let made = made_names(model, entity, item);
    is_derived(model, entity)
        && original.is_some_and(|original| {
            let is_shared = |name: &String| original.attribute(name).is_some();
            item.keys().all(|name| made.contains(name.as_str()) || is_shared(name))
        })
}

/// Returns whether the items of an entity are made from those of another.
pub(super) fn is_derived(model: &Model, entity: &Entity) -> bool {
    Copying::of_entity(model, entity).iter().any(|copying| copying.copy.name == entity.name)
}
