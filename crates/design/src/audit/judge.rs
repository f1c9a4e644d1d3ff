//! Judges a decision: the items that a write or a transaction is about to change, each as it was and as it will be.
//!
//! Nothing else is read. Rules across items (unique values, copies, versions, aggregates) are judged from the decision alone: on a table without
//! violations, what they accept leaves none. An item that the decision only checks counts as evidence.

mod aggregates;
mod copies;
mod unique;
mod versions;

use super::{KEY_SEPARATOR, Violation, check_recognised, known_values, recognise, violation};
use crate::item::{Attributes, Item, attributes};
use crate::model::decimal::Decimal;
use crate::model::{Entity, Model};

/// What a decision does to one item.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The key's attributes.
    pub key: Item,
    /// The stored item.
    pub old: Option<Item>,
    /// The resulting item.
    pub new: Option<Item>,
}

/// Judges the changes of one decision. Returns the violations with the numbers of the changes that cause them, in order.
pub fn judge(model: &Model, changes: &[Change]) -> Vec<(usize, Violation)> {
    let seen: Vec<SeenChange<'_, '_>> = changes.iter().map(|change| SeenChange::new(model, change)).collect();
    let mut violations = Vec::new();
    for (number, change) in seen.iter().enumerate().filter(|(_, change)| change.is_change) {
        violations.extend(change.own_violations(model).into_iter().map(|violation| (number, violation)));
    }
    violations.extend(unique::judge(model, &seen));
    violations.extend(copies::judge(model, &seen));
    violations.extend(versions::judge(model, &seen));
    violations.extend(aggregates::judge(model, &seen));
    violations.sort_by_key(|(number, _)| *number);
    violations
}

/// A change with the entities of its items.
struct SeenChange<'a, 'm> {
    /// The texts of the key's attributes.
    key: Vec<String>,
    /// An attribute that the model's keys have and those of the table lack.
    missing: Option<&'m str>,
    /// The entity that the key belongs to, and the values in it.
    keyed: Option<(&'m Entity, Attributes)>,
    old: Option<SeenItem<'a, 'm>>,
    new: Option<SeenItem<'a, 'm>>,
    /// The items before and after as they are, recognised or not.
    stored: Option<&'a Item>,
    result: Option<&'a Item>,
    /// Whether the items differ.
    is_change: bool,
}

/// An item of a known entity.
struct SeenItem<'a, 'm> {
    entity: &'m Entity,
    item: &'a Item,
    /// The values of its attributes, and those that only its key has.
    values: Attributes,
}

impl<'a, 'm> SeenItem<'a, 'm> {
    /// `keyed` is the entity that the key belongs to; without types, the item is of that entity.
    fn new(model: &'m Model, item: &'a Item, keyed: Option<&'m Entity>) -> Option<SeenItem<'a, 'm>> {
        let texts = attributes(item);
        let entity = match model.table.type_attribute {
            Some(_) => recognise(model, &texts)?,
            None => keyed?,
        };
        Some(SeenItem { entity, item, values: known_values(model, entity, &texts) })
    }

    /// The whole number in an attribute.
    fn number(&self, attribute: &str) -> Option<i64> {
        self.values.get(attribute)?.parse().ok()
    }
}

impl<'a, 'm> SeenChange<'a, 'm> {
    fn new(model: &'m Model, change: &'a Change) -> SeenChange<'a, 'm> {
        let texts = attributes(&change.key);
        let key = model.table.keys.iter().map(|name| texts.get(name).cloned().unwrap_or_default()).collect();
        let missing = model.table.keys.iter().find(|name| !change.key.contains_key(*name));
        let only_key = texts.into_iter().filter(|(name, _)| model.table.keys.contains(name)).collect();
        let keyed =
            recognise(model, &only_key).map(|entity| (entity, known_values(model, entity, &only_key)));
        let entity = keyed.as_ref().map(|(entity, _)| *entity);
        let see = |item: &'a Option<Item>| item.as_ref().and_then(|item| SeenItem::new(model, item, entity));
        SeenChange {
            key,
            missing: missing.map(String::as_str),
            keyed,
            old: see(&change.old),
            new: see(&change.new),
            stored: change.old.as_ref(),
            result: change.new.as_ref(),
            is_change: change.old != change.new,
        }
    }

    /// The item before or after, if it is of the entity.
    fn old_of(&self, entity: &Entity) -> Option<&SeenItem<'a, 'm>> {
        self.old.as_ref().filter(|item| item.entity.name == entity.name)
    }

    fn new_of(&self, entity: &Entity) -> Option<&SeenItem<'a, 'm>> {
        self.new.as_ref().filter(|item| item.entity.name == entity.name)
    }

    /// The entity that an absent item with this key would be of, and the values in the key.
    fn absent(&self) -> Option<&(&'m Entity, Attributes)> {
        self.keyed.as_ref().filter(|_| self.old.is_none() && self.new.is_none())
    }

    /// What is wrong with the item itself.
    fn own_violations(&self, model: &Model) -> Vec<Violation> {
        if let Some(missing) = &self.missing {
            let message = format!("the table has no key {missing}: its keys are not those of the model");
            return vec![violation("key", message)];
        }
        let Some(result) = self.result else { return Vec::new() };
        let entity = self.new.as_ref().map(|item| item.entity);
        let mut violations = check_recognised(model, result, &attributes(result), entity);
        let (Some(old), Some(new)) = (&self.old, &self.new) else { return violations };
        if old.entity.name != new.entity.name {
            let (old, new) = (&old.entity.name, &new.entity.name);
            let message = format!(
                "{} is of type {old} and cannot become {new}: delete it, then put the other",
                self.key.join(KEY_SEPARATOR)
            );
            violations.push(violation("type", message));
        } else if let Some(lock) = &new.entity.lock {
            violations.extend(skipped_version(lock, old, new));
        }
        violations
    }
}

/// A locked item counts its changes.
fn skipped_version(lock: &str, old: &SeenItem<'_, '_>, new: &SeenItem<'_, '_>) -> Option<Violation> {
    let number = |item: &SeenItem<'_, '_>| Decimal::parse(item.values.get(lock)?);
    let (stored, found) = (number(old)?, number(new));
    let next = stored.plus(&Decimal::one());
    (found.as_ref() != Some(&next)).then(|| {
        let entity = &new.entity.name;
        let what = match found {
            Some(found) if found == stored => format!("{entity} changes, but its {lock} stays {stored}"),
            _ => {
                let found = new.values.get(lock).map_or("missing", String::as_str);
                format!("{lock} of {entity} is {found}, but {stored} is stored")
            }
        };
        let message = format!("{what}: set {lock} = {next}, on the condition that it is {stored}");
        violation("lock", message)
    })
}
