//! Gathers the requests of plans by where they read and by the entities that they return.

use super::by_start::ByStart;
use super::collection::EntityKeys;
use super::field_table::FieldTable;
use super::{PatternShape, Place, RequestGroup, RequestShape, RequestShapes};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, Model};
use crate::plan::{Operation, Plan, Step};
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

/// The requests of some patterns.
pub(super) struct ShapesBuilder<'m> {
    model: &'m Model,
    places: Vec<PlaceBuilder<'m>>,
    patterns: Vec<PatternShape>,
    /// How many parts the keys of the requests and the values that they list have together.
    pub parts: usize,
}

/// The requests that read the table or an index, by their partition key and by the entities that they return.
struct PlaceBuilder<'m> {
    location: TableOrIndex<'m>,
    entities: Vec<&'m Entity>,
    keys: Vec<EntityKeys>,
    /// The numbers of the entities, by name.
    numbers: BTreeMap<&'m str, usize>,
    groups: BTreeMap<(Template, BTreeSet<usize>), RequestGroup>,
}

impl<'m> ShapesBuilder<'m> {
    pub fn new(model: &'m Model) -> ShapesBuilder<'m> {
        let places = TableOrIndex::all(model).into_iter().map(|place| PlaceBuilder::new(model, place));
        let patterns =
            model.patterns.iter().map(|pattern| PatternShape { name: pattern.name.clone(), requests: 0.0 });
        ShapesBuilder { model, places: places.collect(), patterns: patterns.collect(), parts: 0 }
    }

    /// Adds the requests of a pattern's plan.
    pub fn add(&mut self, pattern: usize, plan: &Plan<'m>) {
        if let Some(served) = self.patterns.get_mut(pattern) {
            served.requests = plan.requests();
        }
        // A Scan has no key: it is attributed by where it reads.
        let by_key = |(_, step): &(usize, &Step<'m>)| step.operation != Operation::Scan;
        for (number, step) in plan.steps.iter().enumerate().filter(by_key) {
            for step in step.by_key() {
                let shape = RequestShape::new(self.model, pattern, &step, &plan.steps[..number]);
                self.parts += shape.parts();
                let name = step.location.name();
                if let Some(place) = self.places.iter_mut().find(|place| place.location.name() == name) {
                    self.parts += place.add(&step, shape);
                }
            }
        }
    }

    pub fn finish(self) -> RequestShapes {
        RequestShapes {
            patterns: self.patterns,
            places: self.places.into_iter().map(|place| place.finish(self.model)).collect(),
            parts: self.parts,
        }
    }
}

impl RequestGroup {
    /// One request; `keys` are those of all entities, of which it returns the `wanted`.
    pub(super) fn new(
        step: &Step<'_>,
        keys: &[EntityKeys],
        wanted: BTreeSet<usize>,
        shape: RequestShape,
    ) -> RequestGroup {
        let own = wanted.iter().map(|number| &keys[*number]);
        let fields = own.flat_map(|keys| keys.partition.fields().chain(keys.sort.fields()));
        RequestGroup {
            fields: FieldTable::new(&step.targets, fields.chain(step.partition.fields())),
            partition: step.partition.clone(),
            wanted,
            shapes: vec![shape],
        }
    }
}

impl<'m> PlaceBuilder<'m> {
    fn new(model: &'m Model, location: TableOrIndex<'m>) -> PlaceBuilder<'m> {
        let mappings = location.mappings(model);
        let entities: Vec<&Entity> = mappings.iter().map(|mapping| mapping.entity).collect();
        let numbers = entities.iter().enumerate().map(|(number, entity)| (entity.name.as_str(), number));
        PlaceBuilder {
            location,
            numbers: numbers.collect(),
            keys: mappings.iter().map(EntityKeys::new).collect(),
            groups: BTreeMap::new(),
            entities,
        }
    }

    /// Adds a request. Returns the number of parts of its partition key, if no other request has it.
    fn add(&mut self, step: &Step<'m>, shape: RequestShape) -> usize {
        let own = step.targets.iter().filter_map(|entity| self.numbers.get(entity.name.as_str()).copied());
        let key = (step.partition.clone(), own.collect());
        if let Some(group) = self.groups.get_mut(&key) {
            group.shapes.push(shape);
            return 0;
        }
        let group = RequestGroup::new(step, &self.keys, key.1.clone(), shape);
        let parts = group.partition.parts.len() + group.wanted.len() + group.fields.len();
        self.groups.insert(key, group);
        parts
    }

    fn finish(self, model: &Model) -> Place {
        let (partition, sort) = self.location.halves(model);
        let positions = partition.len()..partition.len() + sort.len();
        Place {
            index: self.location.index.map(|index| index.name.clone()),
            numbers: positions.map(|position| self.location.key_is_number(model, position)).collect(),
            keys: ByStart::new(self.keys, |own| own.partition.prefix()),
            entities: self.entities.iter().map(|entity| entity.name.clone()).collect(),
            requests: ByStart::new(self.groups.into_values().collect(), |own| own.partition.prefix()),
        }
    }
}
