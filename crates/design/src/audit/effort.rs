//! How much work an attached model may make of a write: a key is matched, character by character, against the parts of every template that it
//! may have been made from, and an item is tested by the rules of its entity.

use crate::audit::copying::Copying;
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model};
use crate::template::{FieldTypes, Part, Template};
use std::collections::BTreeMap;

/// An aggregate is worth as many tests: it is compared with the others of its entity.
const TESTS_PER_AGGREGATE: usize = 10;

/// Returns the number of parts of all key templates.
pub fn all_parts(model: &Model) -> usize {
    model.entities.iter().map(|entity| parts(entity, &entity.key) + index_parts(entity)).sum()
}

/// Returns the greatest number of parts that the keys of one item may be matched against. The texts that keys start with rule out most
/// templates.
pub fn parts_per_item(model: &Model) -> usize {
    let of_one = |entity: &Entity| {
        let alike = model.entities.iter().filter(|other| start_alike(entity, other));
        alike.map(|other| parts(other, &other.key)).sum::<usize>() + index_parts(entity)
    };
    model.entities.iter().map(of_one).max().unwrap_or_default()
}

/// Returns the greatest number of tests that one item has to pass: values, conditions of indexes, unique values, copies and aggregates.
pub fn tests_per_item(model: &Model) -> usize {
    let mut of_children: BTreeMap<&str, usize> = BTreeMap::new();
    for aggregate in model.entities.iter().flat_map(|entity| &entity.aggregates) {
        *of_children.entry(&aggregate.of).or_default() += TESTS_PER_AGGREGATE + tests(&aggregate.filter);
    }
    let of_one = |entity: &Entity| {
        let indexes: usize = entity.indexes.iter().map(|own| 1 + tests(&own.when)).sum();
        let aggregates = entity.aggregates.len() * TESTS_PER_AGGREGATE;
        let children = of_children.get(entity.name.as_str()).copied().unwrap_or_default();
        let unique: usize = entity.unique.iter().map(Vec::len).sum();
        entity.attributes.len() + indexes + unique + aggregates + children + relations(model, entity)
    };
    model.entities.iter().map(of_one).max().unwrap_or_default()
}

/// Returns the greatest number of copies that an item has, or one if it is a copy.
pub fn copies_per_item(model: &Model) -> usize {
    model.entities.iter().map(|entity| relations(model, entity)).max().unwrap_or_default()
}

fn relations(model: &Model, entity: &Entity) -> usize {
    Copying::of_entity(model, entity).len()
}

fn tests(condition: &Condition) -> usize {
    condition.tests().iter().map(|test| test.comparison.constants().len().max(1)).sum()
}

fn parts(entity: &Entity, templates: &[Template]) -> usize {
    templates.iter().map(|template| template_parts(template, entity)).sum()
}

/// The parts of a template. A field counts as often as choices of its type are compared with a key.
pub(super) fn template_parts(template: &Template, types: &dyn FieldTypes) -> usize {
    let compared = |part: &Part| match part {
        Part::Field { name, format } => match types.type_of(name) {
            Some(ValueType::Choice(choices)) => 1 + choices.steps(*format),
            _ => 1,
        },
        Part::Text(_) => 1,
    };
    template.parts.iter().map(compared).sum()
}

fn index_parts(entity: &Entity) -> usize {
    entity.indexes.iter().map(|index_key| parts(entity, &index_key.key)).sum()
}

/// Whether a key can start as the keys of both do.
pub(super) fn start_alike(left: &Entity, right: &Entity) -> bool {
    let mut keys = left.key.iter().zip(&right.key).map(|(left, right)| (left.prefix(), right.prefix()));
    keys.all(|(left, right)| left.starts_with(right) || right.starts_with(left))
}
