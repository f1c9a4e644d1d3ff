//! Examples: values of the items that `seed` generates, for requests that can be sent to a seeded table.

use super::{DEPTH, Generator};
use crate::item::Attributes;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Attribute, Bounds, Entity, Model};
use crate::plan::trial::Sortable;
use crate::template::{SHARD, Template};

/// The seed of the items that examples are taken from, which is the default of `partita model seed`.
pub const EXAMPLE_SEED: u64 = 1;
/// The number of these items.
pub const EXAMPLE_ITEMS: u64 = 1_000;
/// The number of items among which an example is searched: one that a sparse index holds, and the bounds of a range.
const MAX_SEARCHED: u64 = 100;

impl<'m> Generator<'m> {
    /// Creates the generator of the items that examples are taken from.
    pub fn of_examples(model: &'m Model) -> Generator<'m> {
        Generator::new(model, EXAMPLE_SEED, EXAMPLE_ITEMS)
    }

    /// Returns the key that a template produces from the values of an item; in a sparse index, of one that is there.
    pub fn example_key(&self, location: TableOrIndex<'_>, entity: &Entity, template: &Template) -> String {
        template.fill(&self.example_values(location, entity)).unwrap_or_default()
    }

    /// Returns the values of an item, with its shard; for a sparse index, of one that is there.
    pub fn example_values(&self, location: TableOrIndex<'_>, entity: &Entity) -> Attributes {
        let Some(entity) = self.model.entity(&entity.name) else { return Attributes::new() };
        let is_there = |values: &Attributes| location.mapping(entity).is_some_and(|own| own.includes(values));
        let mut values =
            self.searched(entity).find(is_there).unwrap_or_else(|| self.values(entity, 0, DEPTH));
        let shard = location.mapping(entity).map_or(0, |mapping| self.shard(&mapping, &values, 0));
        values.insert(SHARD.to_owned(), shard.to_string());
        values
    }

    /// Returns two values of an attribute between which examples have it: the least and the greatest of those that are searched.
    pub fn example_bounds(&self, entity: &Entity, name: &str) -> Option<(String, String)> {
        let entity = self.model.entity(&entity.name)?;
        let attribute = entity.attribute(name);
        let mut values: Vec<String> =
            self.searched(entity).filter_map(|mut values| values.remove(name)).collect();
        values.sort_by_cached_key(|text| Sortable::of_kind(attribute, text));
        Some((values.first()?.clone(), values.last()?.clone()))
    }

    /// Returns whether an item with these values is within a range.
    pub fn has_within(&self, entity: &Entity, range: &Bounds, known: &Attributes) -> bool {
        let Some(entity) = self.model.entity(&entity.name) else { return false };
        let attribute = entity.attribute(&range.by);
        let sortable = |text: &str| Sortable::of_kind(attribute, text);
        let (from, to) = (range.from.as_ref(), range.to.as_ref());
        let is_within = |text: &String| {
            from.is_none_or(|from| sortable(from) <= sortable(text))
                && to.is_none_or(|to| sortable(text) <= sortable(to) || text.starts_with(to.as_str()))
        };
        self.numbers(entity).map(|number| self.values(entity, number, DEPTH)).any(|values| {
            values.get(&range.by).is_some_and(is_within)
                && known.iter().all(|(name, text)| values.get(name) == Some(text))
        })
    }

    /// The values of the items among which examples are searched.
    fn searched<'a>(&'a self, entity: &'a Entity) -> impl Iterator<Item = Attributes> + 'a {
        let numbers = 0..self.numbered(entity).min(MAX_SEARCHED);
        numbers.map(move |number| self.values(entity, number, DEPTH))
    }

    /// Returns the identifiers in an item of what is as new as the item itself.
    pub(crate) fn values_of_new_owners(&self, entity: &Entity, number: u64) -> Attributes {
        let own = entity.attributes.iter().filter(|own| entity.identity() != Some(own.name.as_str()));
        let value = |attribute: &Attribute| {
            let name = &attribute.name;
            let owner = self.owner_of(entity, name).filter(|owner| owner.name != entity.name)?;
            let new = self.numbered(owner).saturating_add(number);
            Some((name.clone(), self.id_of(owner, name, new, DEPTH)?))
        };
        own.filter_map(value).collect()
    }
}
