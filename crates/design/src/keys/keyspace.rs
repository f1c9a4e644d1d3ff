//! The keys of all entities in the table and its indexes, built once for a model, so that each pattern and rule finds the entities it
//! concerns without visiting all of them.

use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::key_tree::KeyTree;
use crate::model::{Entity, Model};
use crate::plan::{SortCondition, sort_overlaps};
use crate::template::{ATTRIBUTE_SEPARATOR, Template, Token};
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// The number of entities that a finding names; beyond it, the finding says that there may be others.
pub const MAX_NAMED: usize = 20;

/// The keys of all entities in the table and its indexes, built once for a model.
pub struct Keyspace<'m> {
    /// The model.
    pub model: &'m Model,
    /// The table, followed by its indexes.
    locations: Vec<LocationKeys<'m>>,
}

/// The keys of all entities in the table or in one index.
struct LocationKeys<'m> {
    location: TableOrIndex<'m>,
    mappings: Vec<KeyMapping<'m>>,
    by_entity: HashMap<&'m str, usize>,
    tree: KeyTree,
    /// The keys whose free texts may contain the delimiter; built when it is first needed.
    strict_tree: OnceLock<KeyTree>,
}

/// What a request reads: a partition and a range of its sort keys.
#[derive(Clone, Copy)]
pub struct KeyRange<'a> {
    /// The partition key.
    pub partition: &'a Template,
    /// The condition on the sort key.
    pub sort: &'a SortCondition,
    /// The entity whose attributes are the fields of both.
    pub types: &'a Entity,
    /// Whether free texts may contain the delimiter.
    pub strict: bool,
}

impl<'m> Keyspace<'m> {
    /// Builds the keyspace of a model.
    pub fn new(model: &'m Model) -> Keyspace<'m> {
        Keyspace {
            model,
            locations: TableOrIndex::all(model)
                .into_iter()
                .map(|location| LocationKeys::new(location, model))
                .collect(),
        }
    }

    /// Returns the table and its indexes.
    pub fn locations(&self) -> impl Iterator<Item = TableOrIndex<'m>> {
        self.locations.iter().map(|keys| keys.location)
    }

    /// Returns the keys of every entity in the table and every index.
    pub fn all_mappings(&self) -> impl Iterator<Item = &KeyMapping<'m>> {
        self.locations.iter().flat_map(|keys| &keys.mappings)
    }

    /// Returns the keys of all entities in the table or an index.
    pub fn mappings(&self, location: TableOrIndex<'_>) -> &[KeyMapping<'m>] {
        self.at(location).map_or(&[], |keys| &keys.mappings)
    }

    /// Returns the keys of an entity in the table or an index.
    pub fn mapping(&self, location: TableOrIndex<'_>, entity: &str) -> Option<&KeyMapping<'m>> {
        let keys = self.at(location)?;
        keys.by_entity.get(entity).map(|number| &keys.mappings[*number])
    }

    /// A table has few indexes: a linear search is enough.
    fn at(&self, location: TableOrIndex<'_>) -> Option<&LocationKeys<'m>> {
        self.locations.iter().find(|keys| keys.location.name() == location.name())
    }

    /// Returns the entities with items in a range that pass a filter: all of them if there are fewer than `max`.
    pub fn within(
        &self,
        location: TableOrIndex<'_>,
        key_range: KeyRange<'_>,
        max: usize,
        filter: impl Fn(&KeyMapping<'m>) -> bool,
    ) -> Vec<&KeyMapping<'m>> {
        let Some(keys) = self.at(location) else { return Vec::new() };
        let (wanted, open) = key_range.tokens();
        let (mut visited, mut found) = (BTreeSet::new(), BTreeSet::new());
        keys.tree(key_range.strict).find_overlapping(&wanted, open, |number| {
            let mapping = &keys.mappings[number];
            if visited.insert(number) && filter(mapping) && key_range.holds(mapping) {
                found.insert(number);
            }
            found.len() < max
        });
        found.into_iter().map(|number| &keys.mappings[number]).collect()
    }

    /// Returns whether another entity can be in the same item collections of the table.
    pub fn shares_collections(&self, entity: &Entity) -> bool {
        !self.collection_members(entity, 1, |other| other.name != entity.name).is_empty()
    }

    /// Returns the entities that can be in the item collections of an entity in the table, itself included.
    pub fn collection_members(
        &self,
        entity: &Entity,
        max: usize,
        filter: impl Fn(&Entity) -> bool,
    ) -> Vec<&'m Entity> {
        let Some(partition) = entity.key.first() else { return Vec::new() };
        let key_range = KeyRange { partition, sort: &SortCondition::Any, types: entity, strict: false };
        let mappings =
            self.within(TableOrIndex { index: None }, key_range, max, |mapping| filter(mapping.entity));
        mappings.into_iter().map(|mapping| mapping.entity).collect()
    }
}

impl<'m> LocationKeys<'m> {
    fn new(location: TableOrIndex<'m>, model: &'m Model) -> LocationKeys<'m> {
        let mappings = location.mappings(model);
        let by_entity =
            mappings.iter().enumerate().map(|(number, mapping)| (mapping.entity.name.as_str(), number));
        let (by_entity, tree) = (by_entity.collect(), tree_of(&mappings, false));
        LocationKeys { location, by_entity, tree, strict_tree: OnceLock::new(), mappings }
    }

    fn tree(&self, strict: bool) -> &KeyTree {
        if !strict {
            return &self.tree;
        }
        self.strict_tree.get_or_init(|| tree_of(&self.mappings, true))
    }
}

fn tree_of(mappings: &[KeyMapping<'_>], strict: bool) -> KeyTree {
    let mut tree = KeyTree::default();
    for (number, mapping) in mappings.iter().enumerate() {
        tree.insert(&key_tokens(mapping, strict), number);
    }
    tree
}

impl KeyRange<'_> {
    /// A prefix of all keys in the range, and whether more follows.
    fn tokens(&self) -> (Vec<Token>, bool) {
        let (sort, open) = match self.sort {
            SortCondition::Any | SortCondition::Range { .. } => (Vec::new(), true),
            SortCondition::Equals(template) => (template.runs(self.types, self.strict), false),
            SortCondition::BeginsWith(prefix) | SortCondition::Between { prefix, .. } => {
                (prefix.runs(self.types, self.strict), true)
            }
        };
        let separator = [Token::Character(ATTRIBUTE_SEPARATOR)];
        ([self.partition.runs(self.types, self.strict).as_slice(), &separator, &sort].concat(), open)
    }

    /// Returns whether items of an entity can be in the range.
    pub fn holds(&self, mapping: &KeyMapping<'_>) -> bool {
        let mapping = &*mapping.with_fixed_values();
        self.partition.overlaps(self.types, &mapping.partition, mapping.entity, self.strict, false)
            && sort_overlaps(self.sort, self.types, mapping, self.strict)
    }
}

/// Joins the names of entities found in a range; after [`MAX_NAMED`], the search has stopped.
pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    if names.len() == MAX_NAMED {
        names.push("perhaps others");
    }
    list(&names)
}

/// The partition key, a separator, and the sort key if there is one.
pub(crate) fn key_tokens(mapping: &KeyMapping<'_>, strict: bool) -> Vec<Token> {
    let mut tokens = mapping.partition.runs(mapping.entity, strict);
    tokens.push(Token::Character(ATTRIBUTE_SEPARATOR));
    tokens.extend(mapping.sort.iter().flat_map(|sort| sort.runs(mapping.entity, strict)));
    tokens
}
