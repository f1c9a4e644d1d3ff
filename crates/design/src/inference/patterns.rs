//! The access patterns that the inferred keys evidently serve.

use crate::formatting::{lower_first, upper_first};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Model, Order, Pattern, Projection, Target};
use crate::relational::naming::{camel, plural};
use crate::template::SHARD;
use crate::template::Template;

/// One pattern for each key of each entity whose partition key can be known.
pub(crate) fn infer(model: &Model) -> Vec<Pattern> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for entity in &model.entities {
        for mapping in TableOrIndex::all(model).iter().filter_map(|location| location.mapping(entity)) {
            let Some(mut pattern) = pattern(&mapping) else { continue };
            if patterns.iter().any(|other| other.name == pattern.name) {
                pattern.name.push_str(mapping.location.index.map_or("Table", |index| &index.name));
            }
            patterns.push(pattern);
        }
    }
    patterns
}

fn pattern(mapping: &KeyMapping<'_>) -> Option<Pattern> {
    let (entity, when) = (mapping.entity, &mapping.when);
    let is_input = |name: &&str| when.fixed(name).is_none() && *name != SHARD;
    let inputs: Vec<String> = mapping.partition.fields().filter(is_input).map(str::to_owned).collect();
    if inputs.is_empty() && when.is_empty() {
        return None;
    }
    let is_known = |field: &str| inputs.iter().any(|input| input == field);
    let several = |sort: &Template| sort.fields().any(|field| !is_known(field));
    // Several items may have one key of an index.
    let shared = mapping.location.index.is_some() && !entity.identity().is_some_and(is_known);
    let many = mapping.sort.as_ref().map_or(shared, several);
    let by = match inputs.is_empty() {
        true => when.to_string().chars().filter(|character| character.is_alphanumeric()).collect(),
        false => inputs.iter().map(|input| camel(input)).collect::<Vec<_>>().join("And"),
    };
    let name = if many { plural(&entity.name) } else { lower_first(&entity.name) };
    // What an index has in the partitions of the table is asked for in its order.
    let is_ordered =
        many && mapping.location.index.is_some() && entity.key.first() == Some(&mapping.partition);
    let ordering = mapping.sort.iter().flat_map(Template::fields).find(|field| !is_known(field));
    let order = ordering.filter(|field| is_ordered && entity.attribute(field).is_some());
    let partial = mapping.location.index.is_some_and(|index| index.project != Projection::All);
    Some(Pattern {
        name: format!("{name}By{}", upper_first(&by)),
        inputs,
        targets: vec![Target { entity: entity.name.clone(), many }],
        filter: when.clone(),
        order: order.map(|by| Order { by: by.to_owned(), descending: false }),
        hydrate: partial,
        ..Pattern::default()
    })
}
