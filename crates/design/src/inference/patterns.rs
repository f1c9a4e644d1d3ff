//! The access patterns that the inferred keys evidently serve.

use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Model, Pattern, Projection, Target};
use crate::template::SHARD;

/// One pattern for each key of each entity whose partition key can be known.
pub(super) fn infer(model: &Model) -> Vec<Pattern> {
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
    let many = mapping.sort.as_ref().is_some_and(|sort| sort.fields().any(|field| !is_known(field)));
    let by = if inputs.is_empty() { when.to_string() } else { inputs.join("And") };
    let by: String = by.chars().filter(|character| character.is_alphanumeric()).collect();
    let plural = if many { "s" } else { "" };
    let partial = mapping.location.index.is_some_and(|index| index.project != Projection::All);
    Some(Pattern {
        name: format!("{}{plural}By{}", lower_first(&entity.name), upper_first(&by)),
        inputs,
        targets: vec![Target { entity: entity.name.clone(), many }],
        filter: when.clone(),
        hydrate: partial,
        ..Pattern::default()
    })
}

fn upper_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}
