//! The markers of an item's unique values and its copies, made from the item.

use super::image::{Companion, Image};
use super::normal_form::normal_value;
use super::values::{Values, generated_names, in_the_way, made_names, new_keys, outdated_names};
use super::{Transition, old_name, storable};
use crate::audit::copying::Copying;
use crate::audit::{known_values, marker, marker_item, marker_of, markers, recognise};
use crate::item::{Attributes, Item, Value, attributes};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Attribute, Entity, Model};
use crate::template::SHARD;
use std::collections::BTreeSet;

/// Copies of copies end after so many levels.
pub(super) const MAX_DEPTH: u32 = 6;

/// The companions of a new item, and the keys of old markers that it no longer needs.
pub(super) fn of<'m>(
    transition: &Transition<'m>,
    before: Option<&'m Entity>,
    after: &'m Entity,
    item: &Item,
    values: &Values,
) -> (Vec<Companion<'m>>, Vec<Item>) {
    let mut companions = Vec::new();
    add_companions(transition, after, item, values, MAX_DEPTH, &mut companions);
    let mut obsolete = Vec::new();
    for (names, old_key) in before.map(|own| old_markers(transition, own, after, values)).unwrap_or_default()
    {
        let texts = known_values(transition.new, after, &attributes(item));
        let successor = names.filter(|names| after.unique.contains(names));
        let key = successor.and_then(|names| marker(after, &names, &texts));
        let key = key.map(|key| marker_item(transition.new, &key));
        let mut markers = companions.iter_mut().filter(|companion| companion.entity.is_none());
        if let Some(marker) = key.and_then(|key| markers.find(|marker| has_key(&marker.item, &key))) {
            marker.old_key = Some(old_key.clone());
        }
        if companions.iter().all(|companion| !has_key(&companion.item, &old_key)) {
            obsolete.push(old_key);
        }
    }
    (companions, obsolete)
}

fn add_companions<'m>(
    transition: &Transition<'m>,
    entity: &'m Entity,
    item: &Item,
    values: &Values,
    depth: u32,
    companions: &mut Vec<Companion<'m>>,
) {
    let texts = known_values(transition.new, entity, &attributes(item));
    for key in markers(entity, item, &texts) {
        let item = marker_of(transition.new, entity, item, &key);
        companions.push(Companion { entity: None, item, old_key: None, version: None });
    }
    if depth == 0 {
        return;
    }
    let copyings = Copying::of_entity(transition.new, entity).into_iter();
    for copy in copyings.map(|copying| copying.copy).filter(|copy| copy.name != entity.name) {
        let shared: Item = copy
            .attributes
            .iter()
            .filter_map(|attribute| Some((attribute.name.clone(), item.get(&attribute.name)?.clone())))
            .collect();
        let before = transition.predecessor(copy);
        let copied = values.of_copy(transition.new, copy, &shared);
        let Ok(copied_item) = new_keys(transition, before, copy, &copied.item, &copied) else { continue };
        let version = entity.versions.as_ref().map(|name| number(&texts, name));
        let old_key = before.and_then(|before| key_with(transition.old, before, &values.old));
        let old_key = old_key.filter(|key| is_possible(transition.old, key));
        add_companions(transition, copy, &copied_item, &copied, depth - 1, companions);
        companions.push(Companion { entity: Some(copy), item: copied_item, old_key, version });
    }
}

fn has_key(item: &Item, key: &Item) -> bool {
    key.iter().all(|(name, value)| item.get(name) == Some(value))
}

fn number(texts: &Attributes, name: &str) -> f64 {
    texts.get(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The key that an item with these values has under a model.
pub(super) fn key_with(model: &Model, entity: &Entity, values: &Attributes) -> Option<Item> {
    let table = TableOrIndex { index: None };
    let shard =
        entity.shard.as_ref().and_then(|shard| shard.required(values)).map(|number| number.to_string());
    let value_of = |field: &str| match &entity.shard {
        Some(_) if field == SHARD => shard.as_deref(),
        _ => values.get(field).map(String::as_str),
    };
    let keys = model.table.keys.iter().zip(&entity.key).enumerate();
    keys.map(|(position, (name, template))| {
        Some((name.clone(), table.key_value(model, position, template.fill_with(value_of).ok()?)))
    })
    .collect()
}

/// The keys of the markers that the item has under the old model, with the new names of the attributes that they keep unique.
fn old_markers(
    transition: &Transition<'_>,
    before: &Entity,
    after: &Entity,
    values: &Values,
) -> Vec<(Option<Vec<String>>, Item)> {
    let renamed = |name: &String| {
        let attribute =
            after.attributes.iter().find(|attribute| old_name(before, after, attribute) == Some(name));
        attribute.map(|attribute| attribute.name.as_str())
    };
    let mut keys = Vec::new();
    for unique in &before.unique {
        // After an interruption, the item may have its new name already.
        let value = |name: &String| values.old.get(name).or_else(|| values.new.get(renamed(name)?));
        let known = unique.iter().filter_map(|name| Some((name.clone(), value(name)?.clone()))).collect();
        let names = unique.iter().map(|name| renamed(name).map(str::to_owned)).collect();
        let key = marker(before, unique, &known).map(|key| marker_item(transition.old, &key));
        keys.extend(key.filter(|key| is_possible(transition.old, key)).map(|key| (names, key)));
    }
    keys
}

/// Whether a table can have the key. One that it cannot have is not looked for.
fn is_possible(model: &Model, key: &Item) -> bool {
    storable::key_obstacle(model, key).is_none()
}

impl Transition<'_> {
    /// Returns why a marker or a copy cannot be as it is wanted: it would be in an index of the new model, by an attribute of its own.
    pub fn in_foreign_index(&self, copy: Option<&Entity>, wanted: &Item) -> Option<String> {
        let name = self.new.lookup().generated_keys(self.new).stray_names(self.new, copy, wanted).next()?;
        Some(in_the_way(copy.map_or("a marker", |copy| &copy.name), name))
    }

    /// Returns why an item that is there cannot become the copy that is wanted: what nothing else has would be overwritten.
    pub fn overwritten(
        &self,
        copy: &Entity,
        original: &Item,
        wanted: &Item,
        present: &Item,
    ) -> Option<String> {
        if !matches!(self.image(present), Image::Copy { .. }) {
            return None;
        }
        let before = self.predecessor(copy);
        let not_own = self.names_of_others(copy, original, present);
        let mut own = present.iter().filter(|(name, _)| !not_own.contains(name.as_str()));
        let is_kept = |name: &String, value: &Value| {
            wanted
                .get(&new_name(before, copy, name))
                .is_some_and(|kept| normal_value(kept) == normal_value(value))
        };
        let (name, _) = own.find(|(name, value)| !is_kept(name, value))?;
        let copy_name = &copy.name;
        Some(match generated_names(self.new, copy).contains(name.as_str()) {
            true => in_the_way(copy_name, name),
            false => format!("{copy_name} becomes a copy, and its {name} is not that of its original"),
        })
    }

    /// The attributes of an item that becomes a copy that are not its own: those that a model has made, and those of its original. If it was no copy
    /// in the old model, nothing else has the values.
    fn names_of_others<'a>(&'a self, copy: &'a Entity, original: &Item, present: &Item) -> BTreeSet<&'a str> {
        let texts = attributes(present);
        let mut names = BTreeSet::new();
        let (was_known, former) = (recognise(self.old, &texts), self.former_copy(&texts));
        if let Some(before) = was_known.or_else(|| self.predecessor(copy)) {
            names.extend(outdated_names(self, before, copy, present));
        }
        names.extend(former.map(|former| shared_names(self.old, former)).unwrap_or_default());
        if !self.may_be_new_copy(copy, present, &texts) {
            return names;
        }
        names.extend(made_names(self.new, copy, present));
        // What the original did not have before, the copy does not have from it.
        let is_new = self.is_new_copy(copy, present, &texts);
        let is_given = |name: &&str| is_new || (former.is_some() && original.contains_key(*name));
        names.extend(shared_names(self.new, copy).into_iter().filter(is_given));
        names
    }

    /// Returns the keys that the original of a copy may have, in the new form and in the old one.
    pub fn original_keys(&self, copy: &Entity, item: &Item) -> Vec<Item> {
        let original = copy.copies.as_deref().and_then(|name| self.new.entity(name));
        let old = original.and_then(|original| self.predecessor(original));
        let sides = [(self.new, original), (self.old, old)];
        let values = attributes(item);
        sides.into_iter().filter_map(|(model, own)| key_with(model, own?, &values)).collect()
    }

    /// Returns the version of the original that a copy was made from, if only the newest has a copy.
    pub fn copied_version(&self, copy: &Entity, item: &Item) -> Option<f64> {
        let original = copy.copies.as_deref().and_then(|name| self.new.entity(name))?;
        attributes(item).get(original.versions.as_deref()?)?.parse().ok()
    }

    /// Returns a copy as it will be: made from its original, with what the copy alone has in its present form.
    pub fn completed_copy(&self, copy: &Entity, made: &Item, present: &Item) -> Item {
        let shared = shared_names(self.new, copy);
        let mut generated = generated_names(self.new, copy);
        let before = self.predecessor(copy);
        generated.extend(before.into_iter().flat_map(|own| outdated_names(self, own, copy, present)));
        let mut whole = made.clone();
        for (name, value) in present {
            let own = new_name(before, copy, name);
            let is_generated = copy.attribute(&own).is_none() && generated.contains(name.as_str());
            if !is_generated && !shared.contains(own.as_str()) {
                whole.insert(own, value.clone());
            }
        }
        whole
    }
}

/// The attributes that a copy has from its original.
fn shared_names<'m>(model: &'m Model, copy: &'m Entity) -> BTreeSet<&'m str> {
    let Some(original) = copy.copies.as_deref().and_then(|name| model.entity(name)) else {
        return BTreeSet::new();
    };
    let names = copy.attributes.iter().map(|attribute| attribute.name.as_str());
    names.filter(|name| original.attribute(name).is_some()).collect()
}

/// The name that an attribute of a copy gets. Renames are read in both directions.
fn new_name(before: Option<&Entity>, copy: &Entity, name: &String) -> String {
    let is_renamed = |attribute: &&Attribute| match before {
        Some(before) => old_name(before, copy, attribute) == Some(name),
        None => attribute.origin.was.as_ref() == Some(name),
    };
    copy.attributes.iter().find(is_renamed).map_or_else(|| name.clone(), |attribute| attribute.name.clone())
}
