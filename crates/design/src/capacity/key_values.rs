//! How many values a partition key has, and how many items are under one of them.

use crate::capacity::basis::Estimate;
use crate::capacity::estimate::{self, ItemCount};
use crate::capacity::time_buckets;
use crate::keys::key_mapping::KeyMapping;
use crate::model::{Entity, Model};
use crate::template::{Format, Part, SHARD};
use std::collections::BTreeSet;

/// Returns the items under one value of a partition key in the newest of its time buckets, where so many shards divide them.
pub fn items(model: &Model, mapping: &KeyMapping<'_>, shards: Estimate) -> ItemCount {
    let mut items = time_buckets::items_of_value(model, mapping, 1.0).under_keys(mapping, shards);
    items.average = (items.average / shards.value).max(items.average.min(1.0));
    items.max = (items.max / shards.value).max(items.max.min(1.0));
    items
}

/// Returns the number of values of a partition key with so many shards, or `None` if it grows with the data and nothing bounds it.
pub fn number(model: &Model, mapping: &KeyMapping<'_>, shards: Estimate) -> Option<Estimate> {
    let items = items(model, mapping, shards);
    let (mut values, mut is_bounded) = (shards, true);
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        if name == SHARD {
            continue;
        }
        let field = left_by_when(mapping, name, *format);
        match field.or_else(|| of_field(model, mapping.entity, name, *format)) {
            Some(field) => values = values * field,
            None => is_bounded = false,
        }
    }
    // No more than the items are divided into; where nobody knows into how many, than there are items.
    let total = estimate::total(model, mapping.entity);
    let each = if items.is_known() || !is_bounded { items.average.max(1.0) } else { 1.0 };
    let most = Estimate::new(total.value / each, total.basis.and(items.basis));
    if !total.basis.is_assumed() && (!is_bounded || values.value > most.value) {
        return Some(most);
    }
    is_bounded.then_some(values)
}

/// Returns the number of texts that the condition of an index leaves of a field, if it lists its values.
pub fn left_by_when(mapping: &KeyMapping<'_>, name: &str, format: Format) -> Option<Estimate> {
    let values = mapping.when.values(name, mapping.entity)?;
    let texts: BTreeSet<Option<String>> = values.iter().map(|value| format.apply(value.as_str())).collect();
    Some(Estimate::derived(texts.len() as f64))
}

fn of_field(model: &Model, entity: &Entity, name: &str, format: Format) -> Option<Estimate> {
    if let Format::Bucket(length) = format {
        return Some(Estimate::assumed(time_buckets::of_a_year(length)));
    }
    estimate::distinct(model, entity, name)
}
