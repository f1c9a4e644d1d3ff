//! An entity's place in the table or in an index: the keys it has there, and which of its items are there.

use crate::condition::Condition;
use crate::item::Value;
use crate::model::{Entity, Index, Model, Projection, Shard};
use crate::template::{Format, Part, SHARD, Template};
use std::collections::BTreeSet;

/// The table or one of its indexes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'m> {
    pub index: Option<&'m Index>,
}

/// Keys of one entity at one place.
#[derive(Clone, Debug)]
pub struct Slot<'m> {
    pub entity: &'m Entity,
    pub place: Place<'m>,
    /// One template for each key attribute.
    pub key: &'m [Template],
    /// Those of the partition key as one.
    pub partition: Template,
    pub sort: Option<Template>,
    pub when: Condition,
    pub shard: Option<&'m Shard>,
    /// Items here at a time, if the model says so.
    pub count: Option<u64>,
}

impl<'m> Place<'m> {
    /// The table first, then its indexes.
    pub fn all(model: &'m Model) -> Vec<Place<'m>> {
        let indexes = model.indexes.iter().map(|index| Place { index: Some(index) });
        std::iter::once(Place { index: None }).chain(indexes).collect()
    }

    pub fn name(&self) -> &'m str {
        self.index.map_or("the table", |index| index.name.as_str())
    }

    pub fn key_names(&self, model: &'m Model) -> &'m [String] {
        self.index.map_or(&model.table.keys, |index| &index.keys)
    }

    /// Names of the attributes of the partition key, and of the sort key.
    pub fn halves(&self, model: &'m Model) -> (&'m [String], &'m [String]) {
        match self.index {
            None => model.table.keys.split_at(model.table.keys.len().min(1)),
            Some(index) => index.halves(),
        }
    }

    /// Reads can be strongly consistent.
    pub fn is_consistent(&self) -> bool {
        self.index.is_none_or(|index| index.local)
    }

    pub fn slot(&self, entity: &'m Entity) -> Option<Slot<'m>> {
        let (key, when, shard, count) = match self.index {
            None => (&entity.key, Condition::default(), entity.shard.as_ref(), None),
            Some(index) => {
                let indexed = entity.indexed(&index.name)?;
                let shard = indexed.shard.as_ref().or(entity.shard.as_ref());
                (&indexed.key, indexed.when.clone(), shard, indexed.count)
            }
        };
        let first = self.index.map_or(1, |index| index.partition_keys).min(key.len());
        let (partition, sort) = key.split_at(first);
        if partition.is_empty() {
            return None;
        }
        let sort = (!sort.is_empty()).then(|| Template::joined(sort));
        Some(Slot {
            entity,
            place: *self,
            key,
            partition: Template::joined(partition),
            sort,
            when,
            shard,
            count,
        })
    }

    pub fn slots(&self, model: &'m Model) -> Vec<Slot<'m>> {
        model.entities.iter().filter_map(|entity| self.slot(entity)).collect()
    }

    /// The key attribute holds numbers: every entity puts a bare number there.
    pub fn key_is_number(&self, model: &'m Model, position: usize) -> bool {
        model.lookup().is_number(*self, position)
    }

    /// A value of a key attribute from its text: a number where every entity puts one.
    pub fn key_value(&self, model: &'m Model, position: usize, text: String) -> Value {
        if self.key_is_number(model, position) { Value::Number(text) } else { Value::String(text) }
    }

    /// Finds that out.
    pub(crate) fn holds_numbers(&self, model: &'m Model, position: usize) -> bool {
        let slots = self.slots(model);
        !slots.is_empty()
            && slots.iter().all(|slot| {
                let template = slot.key.get(position);
                let field =
                    template.and_then(Template::bare_field).and_then(|name| slot.entity.attribute(name));
                field.is_some_and(|attribute| attribute.kind.is_number())
            })
    }
}

impl Slot<'_> {
    /// Its partition key is made of attributes under their own names.
    pub fn is_semantic(&self, model: &Model) -> bool {
        let (names, _) = self.place.halves(model);
        names.iter().zip(self.key).all(|(name, template)| template.bare_field() == Some(name))
    }

    /// A field is alone in a sort key attribute that holds numbers, so that it sorts as numbers do.
    pub fn sorts_as_number(&self, model: &Model, field: &str) -> bool {
        let first = self.place.halves(model).0.len();
        let alone = |position: &usize| self.key[*position].bare_field() == Some(field);
        (first..self.key.len()).filter(alone).any(|position| self.place.key_is_number(model, position))
    }

    /// Shards that one logical partition key is spread over.
    pub fn shards(&self) -> u64 {
        let sharded = self.partition.has_field(SHARD);
        self.shard.filter(|_| sharded).map_or(1, |shard| shard.count.max(1))
    }

    pub fn is_sparse(&self) -> bool {
        !self.when.is_empty()
    }

    /// The partition key moves on with time, so that no collection grows for ever.
    pub fn has_time_bucket(&self) -> bool {
        self.partition.parts.iter().any(|part| match part {
            Part::Field { name, format } => {
                matches!(format, Format::Bucket(_))
                    || self.entity.attribute(name).is_some_and(|a| a.kind.is_time())
            }
            Part::Text(_) => false,
        })
    }

    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.partition.fields().chain(self.sort.iter().flat_map(Template::fields))
    }

    /// Attributes that a read here returns: projected ones, and those that the keys spell out.
    pub fn available(&self) -> BTreeSet<&str> {
        let whole = |part: &&Part| !matches!(part, Part::Field { format: Format::Bucket(_), .. });
        let templates = self.entity.key.iter().chain([&self.partition]).chain(self.sort.iter());
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for template in templates {
            names.extend(template.parts.iter().filter(whole).filter_map(|part| match part {
                Part::Field { name, .. } => {
                    self.entity.attribute(name).map(|attribute| attribute.name.as_str())
                }
                Part::Text(_) => None,
            }));
        }
        let fixed = self.when.tests.iter().filter(|test| self.when.fixed(test.attribute()).is_some());
        names.extend(
            fixed
                .filter_map(|test| self.entity.attribute(test.attribute()))
                .map(|attribute| attribute.name.as_str()),
        );
        let all = || self.entity.attributes.iter().map(|attribute| attribute.name.as_str());
        match self.place.index.map(|index| &index.project) {
            None | Some(Projection::All) => names.extend(all()),
            Some(Projection::KeysOnly) => {}
            Some(Projection::Include(included)) => {
                names.extend(all().filter(|name| included.iter().any(|own| own == name)));
            }
        }
        names
    }

    /// Bytes of an item here.
    pub fn bytes(&self) -> u64 {
        let whole = self.entity.bytes();
        let of =
            |name: &str| self.entity.attribute(name).map_or(0, |a| name.len() as u64 + a.kind.usual_bytes());
        let keys = || -> u64 { (self.entity.key.len() as u64 + 2) * 34 };
        match self.place.index.map(|index| &index.project) {
            None | Some(Projection::All) => whole,
            Some(Projection::KeysOnly) => keys().min(whole),
            Some(Projection::Include(names)) => {
                (keys() + names.iter().map(|name| of(name)).sum::<u64>()).min(whole)
            }
        }
    }
}
