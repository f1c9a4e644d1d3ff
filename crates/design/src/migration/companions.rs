//! The markers of an item's unique values and its copies, made from the item.

use super::image::Companion;
use super::values::{Values, new_keys};
use super::{Transition, old_name};
use crate::audit::copying::Copying;
use crate::audit::{known_values, marker, marker_item, markers};
use crate::item::{Attributes, Item, attributes};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Attribute, Entity, Model};

/// Copies of copies end after so many levels.
const MAX_DEPTH: u32 = 6;

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
    let obsolete = before.map(|before| old_markers(transition, before, after, values, &companions));
    (companions, obsolete.unwrap_or_default())
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
        let item = marker_item(transition.new, &key);
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
        let old_key = before.and_then(|before| old_key(transition.old, before, &values.old));
        add_companions(transition, copy, &copied_item, &copied, depth - 1, companions);
        companions.push(Companion { entity: Some(copy), item: copied_item, old_key, version });
    }
}

fn number(texts: &Attributes, name: &str) -> f64 {
    texts.get(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The key that a copy has in the old table.
fn old_key(model: &Model, copy: &Entity, values: &Attributes) -> Option<Item> {
    let table = TableOrIndex { index: None };
    let keys = model.table.keys.iter().zip(&copy.key).enumerate();
    keys.map(|(position, (name, template))| {
        Some((name.clone(), table.key_value(model, position, template.fill(values).ok()?)))
    })
    .collect()
}

/// The keys of markers that the item has under the old model and not under the new one.
fn old_markers(
    transition: &Transition<'_>,
    before: &Entity,
    after: &Entity,
    values: &Values,
    companions: &[Companion<'_>],
) -> Vec<Item> {
    let is_kept = |key: &Item| companions.iter().any(|companion| companion.item == *key);
    let renamed = |name: &String| {
        let attribute = after.attributes.iter().find(|attribute| old_name(before, attribute) == Some(name));
        attribute.map(|attribute| attribute.name.as_str())
    };
    let mut keys = Vec::new();
    for unique in &before.unique {
        // After an interruption, the item may have its new name already.
        let value = |name: &String| values.old.get(name).or_else(|| values.new.get(renamed(name)?));
        let known = unique.iter().filter_map(|name| Some((name.clone(), value(name)?.clone()))).collect();
        keys.extend(marker(before, unique, &known).map(|key| marker_item(transition.old, &key)));
    }
    keys.retain(|key| !is_kept(key));
    keys
}

impl Transition<'_> {
    /// Returns a copy as it will be: made from its original, with what the copy alone has in its present form.
    pub fn completed_copy(&self, copy: &Entity, made: &Item, present: &Item) -> Item {
        let original = copy.copies.as_deref().and_then(|name| self.new.entity(name));
        let is_shared = |name: &str| {
            copy.attribute(name).is_some()
                && original.is_some_and(|original| original.attribute(name).is_some())
        };
        let models = [self.old, self.new];
        let is_key = |name: &String| {
            let indexes = models.iter().flat_map(|model| &model.indexes);
            let keys = indexes.flat_map(|index| &index.keys);
            keys.chain(models.iter().flat_map(|model| &model.table.keys)).any(|key| key == name)
        };
        let types = models.map(|model| model.table.type_attribute.as_ref());
        let new_name = |name: &String| {
            let renamed = |attribute: &&Attribute| attribute.origin.was.as_ref() == Some(name);
            copy.attributes
                .iter()
                .find(renamed)
                .map_or_else(|| name.clone(), |attribute| attribute.name.clone())
        };
        let mut whole = made.clone();
        for (name, value) in present {
            let own = new_name(name);
            let is_generated =
                copy.attribute(&own).is_none() && (is_key(name) || types.contains(&Some(name)));
            if !is_generated && !is_shared(&own) {
                whole.insert(own, value.clone());
            }
        }
        whole
    }
}
