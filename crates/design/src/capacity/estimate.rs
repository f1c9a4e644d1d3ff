//! Estimates of items, bytes and units from the expectations that a model declares.
//!
//! What a model does not declare is assumed; `known` distinguishes the two.

use crate::keys::key_mapping::KeyMapping;
use crate::model::{Entity, Model};

/// The largest page of a Query.
pub const PAGE_BYTES: f64 = 1_048_576.0;
const ASSUMED_COUNT: f64 = 10_000.0;
const ASSUMED_AVERAGE: f64 = 10.0;

/// A number of items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemCount {
    /// The average.
    pub average: f64,
    /// The maximum.
    pub max: f64,
    /// Whether it is declared rather than assumed.
    pub known: bool,
}

/// Returns the number of all items of an entity.
pub fn count(model: &Model, entity: &Entity) -> f64 {
    count_within(model, entity, 8)
}

fn count_within(model: &Model, entity: &Entity, depth: u32) -> f64 {
    if let Some(count) = entity.expect.count {
        return count as f64;
    }
    let original = entity.copies.as_deref().and_then(|name| model.entity(name));
    if depth == 0 {
        return ASSUMED_COUNT;
    }
    if let Some(parent) = entity.expect.per.as_deref().and_then(|name| model.entity(name)) {
        return count_within(model, parent, depth - 1) * entity.expect.average.unwrap_or(ASSUMED_AVERAGE);
    }
    original.map_or(ASSUMED_COUNT, |original| count_within(model, original, depth - 1))
}

/// Returns whether the number of an entity's items is declared.
pub fn is_counted(model: &Model, entity: &Entity) -> bool {
    entity.expect.count.is_some()
        || entity.expect.per.is_some()
        || entity
            .copies
            .as_deref()
            .and_then(|name| model.entity(name))
            .is_some_and(|e| e.expect.count.is_some())
}

/// Returns the number of distinct values of an attribute, if it is known.
pub fn distinct(model: &Model, entity: &Entity, name: &str) -> Option<f64> {
    let attribute = entity.attribute(name)?;
    let declared = attribute.distinct().map(|values| values as f64);
    declared.or_else(|| {
        let owner = model.owner_of(name)?;
        is_counted(model, owner).then(|| count(model, owner))
    })
}

/// Returns the number of items of an entity that agree in the attributes `fixed`.
pub fn items(model: &Model, entity: &Entity, fixed: &[String]) -> ItemCount {
    let has = |name: &str| fixed.iter().any(|own| own == name);
    let single = |known| ItemCount { average: 1.0, max: 1.0, known };
    if entity.identity().is_some_and(has) && entity.versions.is_none() {
        return single(true);
    }
    if entity.unique.iter().any(|name| has(name)) || entity.key_fields().all(has) {
        return single(true);
    }
    let total = count(model, entity);
    let parent = entity.expect.per.as_deref().and_then(|name| model.entity(name));
    let parent_id = parent.and_then(Entity::identity).filter(|id| has(id));
    let known = is_counted(model, entity);
    let mut amount = match parent_id {
        Some(_) => {
            let average = entity.expect.average.unwrap_or(ASSUMED_AVERAGE);
            ItemCount { average, max: entity.expect.max.map_or(average * 10.0, |max| max as f64), known }
        }
        None => ItemCount { average: total, max: total, known },
    };
    for name in fixed.iter().filter(|name| parent_id != Some(name.as_str())) {
        let Some(attribute) = entity.attribute(name) else { continue };
        let values = distinct(model, entity, name).unwrap_or_else(|| total.sqrt()).max(1.0);
        amount.average = (amount.average / values).max(1.0);
        let top = attribute.top.unwrap_or_else(|| (10.0 / values).min(1.0));
        amount.max = (amount.max * top).max(1.0);
    }
    amount.max = amount.max.max(amount.average);
    amount
}

/// Returns the number of items of an entity in the table or an index that agree in the attributes `fixed`. The number in a
/// sparse index is declared, or assumed to be small.
pub fn items_at(model: &Model, mapping: &KeyMapping<'_>, fixed: &[String]) -> ItemCount {
    let amount = items(model, mapping.entity, fixed);
    if !mapping.is_sparse() || amount.max <= 1.0 {
        return amount;
    }
    let here = mapping.count.map_or_else(|| 10.0 * count(model, mapping.entity).sqrt(), |count| count as f64);
    let sifted: Vec<String> = fixed
        .iter()
        .filter(|name| !mapping.when.tests.iter().any(|test| test.attribute() == **name))
        .cloned()
        .collect();
    let narrowed = items(model, mapping.entity, &sifted).average / count(model, mapping.entity).max(1.0);
    let average = (here * narrowed.min(1.0)).max(1.0);
    ItemCount { average, max: average * 2.0, known: mapping.count.is_some() }
}

/// Returns the read units of one request that reads this many bytes.
pub fn read_units(bytes: f64, strong: bool) -> f64 {
    let units = (bytes / 4096.0).ceil().max(1.0);
    if strong { units } else { units / 2.0 }
}

/// Returns the write units of an item of this size.
pub fn write_units(bytes: u64) -> u64 {
    bytes.div_ceil(1024).max(1)
}
