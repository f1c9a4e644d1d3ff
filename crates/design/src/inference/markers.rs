//! Markers of unique values: items that belong to no entity.

use super::group::Group;
use crate::audit::{MARKER, marker};
use crate::item::{Item, Value, attributes};
use crate::model::Entity;
use crate::random::hash;
use std::collections::{BTreeMap, HashSet};

/// The number of markers that are remembered.
const MAX_MARKERS: usize = 1_000_000;
/// The number of markers of one attribute that are kept, in case they are items after all.
const MAX_KEPT: usize = 1_000;

/// The markers of a table.
#[derive(Debug, Default)]
pub(super) struct Markers {
    /// The hashes of their keys.
    keys: HashSet<u64>,
    /// How many there are by entity and attribute: `User#email`.
    counts: BTreeMap<String, u64>,
    /// Some of them, by entity and attribute.
    kept: BTreeMap<String, Vec<Item>>,
}

impl Markers {
    /// Returns whether an item is a marker, whose keys are all the same, and remembers it.
    pub fn take(&mut self, item: &Item, keys: &[String]) -> bool {
        let mut texts = keys.iter().map(|key| item.get(key).and_then(Value::as_text));
        let key = texts.next().flatten().filter(|key| texts.all(|text| text == Some(*key)));
        let Some(rest) = key.and_then(|key| key.strip_prefix(MARKER)) else { return false };
        let is_new = self.keys.len() < MAX_MARKERS && key.is_some_and(|key| self.keys.insert(hash(key)));
        let mut parts = rest.splitn(3, '#');
        let (Some(entity), Some(attribute), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let name = format!("{entity}#{attribute}");
        let kept = self.kept.entry(name.clone()).or_default();
        if kept.len() < MAX_KEPT {
            kept.push(item.clone());
        }
        *self.counts.entry(name).or_default() += u64::from(is_new);
        true
    }

    /// Names groups after the entities that markers name: those whose values have them.
    pub fn name<'g>(&self, groups: impl Iterator<Item = &'g Group> + Clone, names: &mut [String]) {
        for owner in self.counts.keys().filter_map(|name| name.split_once('#')).map(|(owner, _)| owner) {
            if names.iter().any(|name| name == owner) {
                continue;
            }
            let entity = Entity { name: owner.to_owned(), ..Entity::default() };
            if let Some(number) = groups.clone().position(|group| !self.of(&entity, group).is_empty()) {
                owner.clone_into(&mut names[number]);
            }
        }
    }

    /// Takes out what looks like a marker although no group of items has such values.
    pub fn strangers<'g>(&mut self, groups: impl Iterator<Item = &'g Group> + Clone) -> Vec<Item> {
        let owners: Vec<String> = self.counts.keys().cloned().collect();
        let mut strangers = Vec::new();
        for name in owners {
            let Some((owner, attributes)) = name.split_once('#') else { continue };
            let entity = Entity { name: owner.to_owned(), ..Entity::default() };
            let names: Vec<String> = attributes.split(',').map(str::to_owned).collect();
            if !groups.clone().any(|group| self.keeps(&entity, group, &names)) {
                self.counts.remove(&name);
                strangers.extend(self.kept.remove(&name).unwrap_or_default());
            }
        }
        strangers
    }

    /// Returns whether each value of some attributes has its marker, and each marker its value.
    fn keeps(&self, entity: &Entity, group: &Group, names: &[String]) -> bool {
        let having = names.iter().map(|name| group.having(name)).min().unwrap_or_default();
        let has_marker = |item: &Item| {
            let key = marker(entity, names, &attributes(item));
            key.is_none_or(|key| self.keys.contains(&hash(&key)))
        };
        let count = self.counts.get(&format!("{}#{}", entity.name, names.join(",")));
        count == Some(&having) && group.sample.iter().all(has_marker)
    }

    /// Returns the attributes whose values have markers under the name of an entity.
    fn of(&self, entity: &Entity, group: &Group) -> Vec<Vec<String>> {
        let own = self.counts.keys().filter_map(|name| {
            let (owner, names) = name.split_once('#')?;
            (owner == entity.name).then(|| names.split(',').map(str::to_owned).collect::<Vec<_>>())
        });
        own.filter(|names| self.keeps(entity, group, names)).collect()
    }

    /// Returns the attributes whose values are unique: each value has its marker, and each marker its value.
    pub fn unique(&self, entity: &Entity, group: &Group) -> Vec<Vec<String>> {
        let is_declared = |names: &Vec<String>| names.iter().all(|name| entity.attribute(name).is_some());
        self.of(entity, group).into_iter().filter(is_declared).collect()
    }
}
