//! Items whose keys others have already: values are drawn for each item by itself, and may be too few for all of them. The first item
//! with a key is generated, the others are left out.

use super::{DEPTH, Generator};
use crate::item::Item;
use crate::model::Entity;
use crate::model::value_type::ValueType;
use crate::random::hash;
use crate::template::{Format, Part};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The numbers that are left out, by entity.
pub(super) type Repeated = BTreeMap<String, BTreeSet<u64>>;

impl<'m> Generator<'m> {
    /// Returns the numbers of the items of an entity.
    pub fn numbers(&self, entity: &Entity) -> impl Iterator<Item = u64> + use<'_, 'm> {
        self.numbers_in(entity, 0..self.numbered(entity))
    }

    /// Returns the numbers of the items of an entity in a range.
    pub fn numbers_in(&self, entity: &Entity, range: Range<u64>) -> impl Iterator<Item = u64> + use<'_, 'm> {
        let left_out = self.left_out(entity);
        range.filter(move |number| left_out.is_none_or(|numbers| !numbers.contains(number)))
    }

    /// Returns the number of items of an entity.
    pub fn count(&self, entity: &Entity) -> u64 {
        self.numbered(entity) - self.left_out(entity).map_or(0, |numbers| numbers.len() as u64)
    }

    /// A copy is left out with its original.
    fn left_out(&self, entity: &Entity) -> Option<&BTreeSet<u64>> {
        let repeated = self.repeated.get_or_init(|| self.all_repeated());
        repeated.get(self.leader(entity).name.as_str())
    }

    /// The entity with which an entity is written.
    fn leader<'e>(&self, entity: &'e Entity) -> &'e Entity
    where
        'm: 'e,
    {
        let mut leader = entity;
        for _ in 0..DEPTH {
            let original = leader.copies.as_deref().filter(|_| self.is_follower(leader));
            let Some(original) = original.and_then(|name| self.model.entity(name)) else { break };
            leader = original;
        }
        leader
    }

    fn all_repeated(&self) -> Repeated {
        let leaders = self.model.entities.iter().filter(|entity| !self.is_follower(entity));
        let leaders = leaders.filter(|entity| !self.has_distinct_keys(entity));
        let repeated = leaders.map(|entity| (entity.name.clone(), self.repeated_of(entity)));
        repeated.filter(|(_, numbers)| !numbers.is_empty()).collect()
    }

    fn repeated_of(&self, entity: &'m Entity) -> BTreeSet<u64> {
        let mut taken = HashSet::new();
        let is_repeated = |number: &u64| {
            let keys = self.keys_of_bundle(entity, *number, DEPTH);
            let is_repeated = keys.iter().any(|key| taken.contains(key));
            if !is_repeated {
                taken.extend(keys);
            }
            is_repeated
        };
        (0..self.numbered(entity)).filter(is_repeated).collect()
    }

    /// The keys of everything that is written with an item, as hashes: there may be millions.
    fn keys_of_bundle(&self, entity: &'m Entity, number: u64, depth: u32) -> Vec<u64> {
        let item = self.item_of(entity, self.values(entity, number, DEPTH), number);
        let markers = self.markers(entity, &item);
        let mut keys: Vec<u64> = markers.iter().chain([&item]).filter_map(|item| self.key(item)).collect();
        let copies = self.model.copies_of(&entity.name).filter(|copy| depth > 0 && self.is_follower(copy));
        keys.extend(copies.flat_map(|copy| self.keys_of_bundle(copy, number, depth - 1)));
        keys
    }

    /// The hash of an item's primary key; `None` if aggregates, which are not known yet, are in it.
    fn key(&self, item: &Item) -> Option<u64> {
        let parts: Option<Vec<&str>> =
            self.model.table.keys.iter().map(|name| item.get(name)?.as_text()).collect();
        parts.map(|parts| hash(&parts.join("\u{1F}")))
    }

    /// Whether no two items can have one key: it contains an identifier that each item has for itself.
    fn has_distinct_keys(&self, entity: &Entity) -> bool {
        let is_plain =
            |part: &Part, id: &str| matches!(part, Part::Field { name, format: Format::Plain } if name == id);
        let in_key = |id: &str| entity.key.iter().flat_map(|key| &key.parts).any(|part| is_plain(part, id));
        let is_own = |id: &str| {
            entity.attribute(id).is_some_and(|attribute| match attribute.kind {
                ValueType::Id | ValueType::String => true,
                ValueType::Ulid | ValueType::Uuid | ValueType::Ksuid => attribute.values.is_none(),
                _ => false,
            })
        };
        let stands_alone = entity.copies.is_none() && entity.unique.is_empty() && entity.versions.is_none();
        stands_alone
            && self.model.copies_of(&entity.name).next().is_none()
            && entity.identity().is_some_and(|id| in_key(id) && is_own(id))
    }
}
