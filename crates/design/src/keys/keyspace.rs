//! The keys of all types at all locations, made once for a model, so that each pattern and rule finds the types it concerns
//! without going through all of them.

use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::key_tree::KeyTree;
use crate::model::{Entity, Model};
use crate::plan::{SortCondition, sort_overlaps};
use crate::template::{ATTRIBUTE_SEPARATOR, Template, Token};
use std::collections::{BTreeSet, HashMap};

/// Of more types than this, it is only said that there are others.
pub const MAX_NAMED: usize = 20;

pub struct Keyspace<'m> {
    pub model: &'m Model,
    /// The table first, then its indexes.
    locations: Vec<LocationKeys<'m>>,
}

/// The keys of all types at one location.
struct LocationKeys<'m> {
    location: TableOrIndex<'m>,
    mappings: Vec<KeyMapping<'m>>,
    by_entity: HashMap<&'m str, usize>,
    tree: KeyTree,
}

/// What a request reads: a partition and a key_range of it, with the types of the fields in both.
#[derive(Clone, Copy)]
pub struct KeyRange<'a> {
    pub partition: &'a Template,
    pub sort: &'a SortCondition,
    pub types: &'a Entity,
}

impl<'m> Keyspace<'m> {
    pub fn new(model: &'m Model) -> Keyspace<'m> {
        Keyspace {
            model,
            locations: TableOrIndex::all(model)
                .into_iter()
                .map(|location| LocationKeys::new(location, model))
                .collect(),
        }
    }

    pub fn locations(&self) -> impl Iterator<Item = TableOrIndex<'m>> {
        self.locations.iter().map(|keys| keys.location)
    }

    /// Every type at every location.
    pub fn all_mappings(&self) -> impl Iterator<Item = &KeyMapping<'m>> {
        self.locations.iter().flat_map(|keys| &keys.mappings)
    }

    pub fn mappings(&self, location: TableOrIndex<'_>) -> &[KeyMapping<'m>] {
        self.at(location).map_or(&[], |keys| &keys.mappings)
    }

    pub fn mapping(&self, location: TableOrIndex<'_>, entity: &str) -> Option<&KeyMapping<'m>> {
        let keys = self.at(location)?;
        keys.by_entity.get(entity).map(|number| &keys.mappings[*number])
    }

    /// A table has few locations.
    fn at(&self, location: TableOrIndex<'_>) -> Option<&LocationKeys<'m>> {
        self.locations.iter().find(|keys| keys.location.name() == location.name())
    }

    /// FieldTypes that have items within a key_range and are sought: all of them if there are fewer than `most`.
    pub fn within(
        &self,
        location: TableOrIndex<'_>,
        key_range: KeyRange<'_>,
        most: usize,
        is_sought: impl Fn(&KeyMapping<'m>) -> bool,
    ) -> Vec<&KeyMapping<'m>> {
        let Some(keys) = self.at(location) else { return Vec::new() };
        let (wanted, open) = key_range.tokens();
        let (mut looked_at, mut found) = (BTreeSet::new(), BTreeSet::new());
        keys.tree.find_overlapping(&wanted, open, |number| {
            let mapping = &keys.mappings[number];
            if looked_at.insert(number) && is_sought(mapping) && key_range.holds(mapping) {
                found.insert(number);
            }
            found.len() < most
        });
        found.into_iter().map(|number| &keys.mappings[number]).collect()
    }

    /// Another type can be in the collections of this one in the table.
    pub fn shares_collections(&self, entity: &Entity) -> bool {
        !self.collection_members(entity, 1, |other| other.name != entity.name).is_empty()
    }

    /// FieldTypes that can be in the collections of a type in the table, itself included.
    pub fn collection_members(
        &self,
        entity: &Entity,
        most: usize,
        is_sought: impl Fn(&Entity) -> bool,
    ) -> Vec<&'m Entity> {
        let Some(partition) = entity.key.first() else { return Vec::new() };
        let key_range = KeyRange { partition, sort: &SortCondition::Any, types: entity };
        let mappings =
            self.within(TableOrIndex { index: None }, key_range, most, |mapping| is_sought(mapping.entity));
        mappings.into_iter().map(|mapping| mapping.entity).collect()
    }
}

impl<'m> LocationKeys<'m> {
    fn new(location: TableOrIndex<'m>, model: &'m Model) -> LocationKeys<'m> {
        let mappings = location.mappings(model);
        let by_entity =
            mappings.iter().enumerate().map(|(number, mapping)| (mapping.entity.name.as_str(), number));
        let mut tree = KeyTree::default();
        for (number, mapping) in mappings.iter().enumerate() {
            tree.insert(&key_tokens(mapping, false), number);
        }
        LocationKeys { location, by_entity: by_entity.collect(), tree, mappings }
    }
}

impl KeyRange<'_> {
    /// A beginning of all its keys, and whether more follows.
    fn tokens(&self) -> (Vec<Token>, bool) {
        let (sort, open) = match self.sort {
            SortCondition::Any | SortCondition::Range { .. } => (Vec::new(), true),
            SortCondition::Equals(template) => (template.runs(self.types, false), false),
            SortCondition::BeginsWith(prefix) | SortCondition::Between { prefix, .. } => {
                (prefix.runs(self.types, false), true)
            }
        };
        let border = [Token::Character(ATTRIBUTE_SEPARATOR)];
        ([self.partition.runs(self.types, false).as_slice(), &border, &sort].concat(), open)
    }

    /// Items of a type can be within it.
    pub fn holds(&self, mapping: &KeyMapping<'_>) -> bool {
        self.partition.overlaps(self.types, &mapping.partition, mapping.entity, false, false)
            && sort_overlaps(self.sort, self.types, mapping)
    }
}

/// The names of types that were found within a key_range. Of many, not all were sought.
pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    if names.len() == MAX_NAMED {
        names.push("perhaps others");
    }
    list(&names)
}

/// The partition key, a border, and the sort key if there is one.
pub(crate) fn key_tokens(mapping: &KeyMapping<'_>, strict: bool) -> Vec<Token> {
    let mut tokens = mapping.partition.runs(mapping.entity, strict);
    tokens.push(Token::Character(ATTRIBUTE_SEPARATOR));
    tokens.extend(mapping.sort.iter().flat_map(|sort| sort.runs(mapping.entity, strict)));
    tokens
}
