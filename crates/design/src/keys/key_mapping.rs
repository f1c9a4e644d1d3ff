//! How an entity's keys are built in the table or in an index, and which of its items are there.

use crate::item::{Attributes, Value};
use crate::model::condition::{Condition, Constant};
use crate::model::{Entity, Index, IndexKey, Model, Projection, Shard};
use crate::template::{Format, Part, SHARD, Template};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The table, or one of its indexes.
#[derive(Clone, Copy, Debug)]
pub struct TableOrIndex<'m> {
    /// The index; `None` is the table.
    pub index: Option<&'m Index>,
}

/// How the keys of one entity are built in the table or in an index, and which of its items are there.
#[derive(Clone, Debug)]
pub struct KeyMapping<'m> {
    /// The entity.
    pub entity: &'m Entity,
    /// The table or the index.
    pub location: TableOrIndex<'m>,
    /// One template for each key attribute.
    pub key: &'m [Template],
    /// The templates of the partition key, joined.
    pub partition: Template,
    /// The templates of the sort key, joined.
    pub sort: Option<Template>,
    /// The condition that items in a sparse index meet.
    pub when: Condition,
    /// How `{shard}` is chosen.
    pub shard: Option<&'m Shard>,
    /// The declared number of items here at a time.
    pub count: Option<u64>,
    /// Whether the items are in an index that the model does not declare for them.
    pub is_implied: bool,
}

impl<'m> TableOrIndex<'m> {
    /// Returns the table, followed by its indexes.
    pub fn all(model: &'m Model) -> Vec<TableOrIndex<'m>> {
        let indexes = model.indexes.iter().map(|index| TableOrIndex { index: Some(index) });
        std::iter::once(TableOrIndex { index: None }).chain(indexes).collect()
    }

    /// Returns the name of the index, or `the table`.
    pub fn name(&self) -> &'m str {
        self.index.map_or("the table", |index| index.name.as_str())
    }

    /// Returns the names of the key attributes.
    pub fn key_names(&self, model: &'m Model) -> &'m [String] {
        self.index.map_or(&model.table.keys, |index| &index.keys)
    }

    /// Returns the names of the partition key attributes and of the sort key attributes.
    pub fn halves(&self, model: &'m Model) -> (&'m [String], &'m [String]) {
        match self.index {
            None => model.table.keys.split_at(model.table.keys.len().min(1)),
            Some(index) => index.halves(),
        }
    }

    /// Returns whether reads can be strongly consistent.
    pub fn is_consistent(&self) -> bool {
        self.index.is_none_or(|index| index.local)
    }

    /// Returns the keys of an entity here, if it is stored here.
    pub fn mapping(&self, entity: &'m Entity) -> Option<KeyMapping<'m>> {
        let index_key = match self.index {
            None => None,
            Some(index) => Some(entity.index_key(&index.name)?),
        };
        let key = index_key.map_or(&entity.key, |own| &own.key);
        let first = self.index.map_or(1, |index| index.partition_keys).min(key.len());
        let (partition, sort) = key.split_at(first);
        if partition.is_empty() {
            return None;
        }
        let sort = (!sort.is_empty()).then(|| Template::joined(sort));
        Some(KeyMapping {
            entity,
            location: *self,
            key,
            partition: Template::joined(partition),
            sort,
            when: index_key.map(|own| membership(entity, own)).unwrap_or_default(),
            shard: shard_in(entity, index_key),
            count: index_key.and_then(|own| own.count),
            is_implied: index_key.is_some_and(|own| own.is_implied),
        })
    }

    /// Returns the keys of all entities stored here.
    pub fn mappings(&self, model: &'m Model) -> Vec<KeyMapping<'m>> {
        model.entities.iter().filter_map(|entity| self.mapping(entity)).collect()
    }

    /// Returns whether a key attribute holds numbers: every entity puts a bare number there.
    pub fn key_is_number(&self, model: &'m Model, position: usize) -> bool {
        model.lookup().is_number(*self, position)
    }

    /// Returns the value of a key attribute with this text: a number where the attribute holds numbers.
    pub fn key_value(&self, model: &'m Model, position: usize, text: String) -> Value {
        if self.key_is_number(model, position) { Value::Number(text) } else { Value::String(text) }
    }

    /// Computes [`Self::key_is_number`].
    pub(crate) fn holds_numbers(&self, model: &'m Model, position: usize) -> bool {
        let mappings = self.mappings(model);
        if mappings.is_empty() {
            // An item that has the attribute has it with the type of the key, though none is in the index.
            let name = &self.key_names(model)[position];
            let mut attributes = model.entities.iter().filter_map(|entity| entity.attribute(name));
            return attributes.any(|attribute| attribute.kind.is_number());
        }
        mappings.iter().all(|mapping| {
            let template = mapping.key.get(position);
            let field =
                template.and_then(Template::bare_field).and_then(|name| mapping.entity.attribute(name));
            field.is_some_and(|attribute| attribute.kind.is_number())
        })
    }
}

/// How `{shard}` is chosen in the key of an entity in an index, or in the table.
pub(crate) fn shard_in<'m>(entity: &'m Entity, index_key: Option<&'m IndexKey>) -> Option<&'m Shard> {
    index_key.and_then(|own| own.shard.as_ref()).or(entity.shard.as_ref())
}

/// What is written into a key attribute: what a template makes, with a shard that is chosen in one way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written<'m> {
    pub template: &'m Template,
    /// How its `{shard}` is chosen, if it has one.
    pub shard: Option<&'m Shard>,
}

impl<'m> Written<'m> {
    /// What a template of a key writes whose `{shard}` is chosen in this way.
    pub fn new(template: &'m Template, shard: Option<&'m Shard>) -> Written<'m> {
        Written { template, shard: shard.filter(|_| template.has_field(SHARD)) }
    }
}

/// The fields of an index key that an item may lack; without one of them, it has no key there.
pub(crate) fn optional_fields<'m>(
    entity: &'m Entity,
    index_key: &'m IndexKey,
) -> impl Iterator<Item = &'m str> {
    index_key.key.iter().flat_map(Template::fields).filter(|name| entity.may_lack(name))
}

/// Returns whether a key attribute of an index is an attribute that items have anyway, and not one that is generated for it.
pub(crate) fn is_natural(model: &Model, name: &str, template: &Template) -> bool {
    let mut own = model.table.keys.iter().chain(&model.table.type_attribute);
    own.any(|own| own == name) || template.bare_field() == Some(name)
}

/// The condition that an entry of an index implies: its own, and that an item has the attributes of the key.
pub(crate) fn membership(entity: &Entity, index_key: &IndexKey) -> Condition {
    optional_fields(entity, index_key).map(Condition::exists).fold(index_key.when.clone(), |when, exists| {
        if when.implies(&exists, entity) { when } else { when.and(&exists) }
    })
}

impl KeyMapping<'_> {
    /// Returns whether the partition key consists of attributes under their own names.
    pub fn is_semantic(&self, model: &Model) -> bool {
        let (names, _) = self.location.halves(model);
        names.iter().zip(self.key).all(|(name, template)| template.bare_field() == Some(name))
    }

    /// Returns whether the keys are there for other purposes: attributes of the entity, its type, or keys of the table or another index.
    pub fn is_borrowed(&self, model: &Model) -> bool {
        self.is_implied || self.is_semantic(model)
    }

    /// Returns whether a field has a numeric sort key attribute to itself, and so sorts as a number.
    pub fn sorts_as_number(&self, model: &Model, field: &str) -> bool {
        let first = self.location.halves(model).0.len();
        let alone = |position: &usize| self.key[*position].bare_field() == Some(field);
        (first..self.key.len()).filter(alone).any(|position| self.location.key_is_number(model, position))
    }

    /// Returns the number of shards that one logical partition key is spread over.
    pub fn shards(&self) -> u64 {
        let sharded = self.partition.has_field(SHARD);
        self.shard.filter(|_| sharded).map_or(1, |shard| shard.count.max(1))
    }

    /// Returns whether all items here have an attribute.
    pub fn always_has(&self, attribute: &str) -> bool {
        !self.entity.may_lack(attribute) || self.when.implies(&Condition::exists(attribute), self.entity)
    }

    /// Returns all values that an attribute can have here, if all items have it, and the condition of the index or the type tells its values.
    pub fn values_of(&self, attribute: &str) -> Option<Vec<Constant>> {
        let condition = self.when.and(&Condition::exists(attribute));
        condition.values(attribute, self.entity).filter(|_| self.always_has(attribute))
    }

    /// Returns whether an item with these attributes meets the condition of a sparse index.
    pub fn includes(&self, attributes: &Attributes) -> bool {
        self.when.holds(attributes)
    }

    /// Returns it with the values that its condition fixes in place of their fields: items with others are not here.
    pub fn with_fixed_values(&self) -> Cow<'_, Self> {
        let constant = |name: &str| self.when.fixed(name).map(str::to_owned);
        if !self.fields().any(|name| self.when.fixed(name).is_some()) {
            return Cow::Borrowed(self);
        }
        let sort = self.sort.as_ref().map(|sort| sort.substitute(constant));
        Cow::Owned(KeyMapping { partition: self.partition.substitute(constant), sort, ..self.clone() })
    }

    /// Returns whether only items that meet a condition are here.
    pub fn is_sparse(&self) -> bool {
        !self.when.is_empty()
    }

    /// Returns whether the partition key changes with time, so that no collection grows without bound.
    pub fn has_time_bucket(&self) -> bool {
        self.partition.parts.iter().any(|part| match part {
            Part::Field { name, format } => {
                matches!(format, Format::Bucket(_))
                    || self.entity.attribute(name).is_some_and(|a| a.kind.is_time())
            }
            Part::Text(_) => false,
        })
    }

    /// Returns whether a key here holds the value of an attribute, and not only its time bucket or lower case.
    pub fn holds_whole(&self, attribute: &str) -> bool {
        self.parts().any(|part| match part {
            Part::Field { name, format } => name == attribute && format.is_readable(),
            Part::Text(_) => false,
        })
    }

    /// Returns the parts of the partition key and the sort key.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.partition.parts.iter().chain(self.sort.iter().flat_map(|sort| &sort.parts))
    }

    /// Returns the fields of the partition key and the sort key.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.partition.fields().chain(self.sort.iter().flat_map(Template::fields))
    }

    /// Returns whether items here have an attribute of their own, not only inside a key: filters can test nothing else.
    pub fn has_attribute(&self, model: &Model, name: &str) -> bool {
        let Some(index) = self.location.index else { return true };
        let is_key = index.keys.iter().chain(&model.table.keys).any(|key| key == name);
        match &index.project {
            Projection::All => true,
            Projection::KeysOnly => is_key,
            Projection::Include(names) => is_key || names.iter().any(|own| own == name),
        }
    }

    /// Returns the attributes that a read here returns: projected ones, and those that can be read back from the keys.
    pub fn available(&self) -> BTreeSet<&str> {
        let templates = self.entity.key.iter().chain(self.key);
        let readable = templates.flat_map(|template| template.readable_fields(self.entity));
        let own = readable.filter_map(|name| self.entity.attribute(name));
        let mut names: BTreeSet<&str> = own.map(|attribute| attribute.name.as_str()).collect();
        let fixed = self.when.attributes().into_iter().filter(|name| self.when.fixed(name).is_some());
        names.extend(
            fixed.filter_map(|name| self.entity.attribute(name)).map(|attribute| attribute.name.as_str()),
        );
        let all = || self.entity.attributes.iter().map(|attribute| attribute.name.as_str());
        match self.location.index.map(|index| &index.project) {
            None | Some(Projection::All) => names.extend(all()),
            Some(Projection::KeysOnly) => {}
            Some(Projection::Include(included)) => {
                names.extend(all().filter(|name| included.iter().any(|own| own == name)));
            }
        }
        names
    }
}
