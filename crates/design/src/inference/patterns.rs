//! The access patterns that the inferred keys evidently serve.

use crate::formatting::{lower_first, upper_first};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Entity, Model, Order, Pattern, Projection, Target};
use crate::relational::naming::{camel, plural};
use crate::template::SHARD;
use crate::template::Template;

/// What each key of each entity serves: the items whose partition key is known. Where it is a constant, those are all of the entity, and the
/// table has each of them under its sort key.
pub(crate) fn infer(model: &Model) -> Vec<Pattern> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for entity in &model.entities {
        for mapping in TableOrIndex::all(model).iter().filter_map(|location| location.mapping(entity)) {
            let by_sort_key = is_list(&mapping).then(|| item_by_sort_key(&mapping)).flatten();
            for mut pattern in std::iter::once(by_partition(&mapping)).chain(by_sort_key) {
                if patterns.iter().any(|other| is_same_item(other, &pattern)) {
                    continue;
                }
                if patterns.iter().any(|other| other.name == pattern.name) {
                    pattern.name.push_str(mapping.location.index.map_or("Table", |index| &index.name));
                }
                patterns.push(pattern);
            }
        }
    }
    patterns
}

/// Whether two patterns ask for the same item.
fn is_same_item(one: &Pattern, other: &Pattern) -> bool {
    let item = |pattern: &Pattern| match pattern.single_target() {
        Some(target) if !target.many => Some(target.entity.clone()),
        _ => None,
    };
    item(one).is_some_and(|entity| item(other) == Some(entity))
        && one.filter == other.filter
        && one.inputs == other.inputs
}

/// The fields of a key that a request names: neither fixed by the condition of its index nor shards.
fn inputs(mapping: &KeyMapping<'_>, template: &Template) -> Vec<String> {
    let mut inputs: Vec<String> = Vec::new();
    for name in template.fields().filter(|name| mapping.when.fixed(name).is_none() && *name != SHARD) {
        if !inputs.iter().any(|input| input == name) {
            inputs.push(name.to_owned());
        }
    }
    inputs
}

/// Whether all items of the entity have one partition key, but for its shards.
fn is_list(mapping: &KeyMapping<'_>) -> bool {
    mapping.when.is_empty() && inputs(mapping, &mapping.partition).is_empty()
}

/// The items with one partition key.
fn by_partition(mapping: &KeyMapping<'_>) -> Pattern {
    let (entity, when) = (mapping.entity, &mapping.when);
    let inputs = inputs(mapping, &mapping.partition);
    let is_known = |field: &str| inputs.iter().any(|input| input == field);
    let several = |sort: &Template| sort.fields().any(|field| !is_known(field));
    // Several items may have one key of an index, and one sort key in several shards.
    let shared = mapping.location.index.is_some() && !entity.identity().is_some_and(is_known);
    let is_spread = mapping.partition.has_field(SHARD) && mapping.shard.is_some_and(|own| own.by.is_none());
    let many = is_spread || mapping.sort.as_ref().map_or(shared, several);
    let by: String = match inputs.is_empty() {
        true => when.to_string().chars().filter(|character| character.is_alphanumeric()).collect(),
        false => joined(&inputs),
    };
    // What an index has in the partitions of the table, or of a whole entity, is asked for in its order.
    let is_ordered = many
        && mapping.location.index.is_some()
        && (entity.key.first() == Some(&mapping.partition) || is_list(mapping));
    let ordering = mapping.sort.iter().flat_map(Template::fields).find(|field| !is_known(field));
    let order = ordering.filter(|field| is_ordered && entity.attribute(field).is_some());
    Pattern {
        name: name(entity, many, &by),
        inputs,
        targets: vec![Target { entity: entity.name.clone(), many }],
        filter: when.clone(),
        order: order.map(|by| Order { by: by.to_owned(), descending: false }),
        hydrate: mapping.location.index.is_some_and(|index| index.project != Projection::All),
        ..Pattern::default()
    }
}

/// The item of the table with one sort key.
fn item_by_sort_key(mapping: &KeyMapping<'_>) -> Option<Pattern> {
    let inputs = inputs(mapping, mapping.sort.as_ref()?);
    if mapping.location.index.is_some() || inputs.is_empty() || mapping.partition.has_field(SHARD) {
        return None;
    }
    Some(Pattern {
        name: name(mapping.entity, false, &joined(&inputs)),
        inputs,
        targets: vec![Target { entity: mapping.entity.name.clone(), many: false }],
        ..Pattern::default()
    })
}

/// `ordersByUserId`, or `brands` if nothing selects them.
fn name(entity: &Entity, many: bool, by: &str) -> String {
    let items = if many { plural(&entity.name) } else { lower_first(&entity.name) };
    if by.is_empty() { items } else { format!("{items}By{}", upper_first(by)) }
}

fn joined(inputs: &[String]) -> String {
    inputs.iter().map(|input| camel(input)).collect::<Vec<_>>().join("And")
}
