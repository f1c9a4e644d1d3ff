//! How the time buckets of a partition key divide the items. How long items stay is not declared: those of a time bucket are assumed to be a part of those
//! of a year.

use crate::capacity::basis::Basis;
use crate::capacity::estimate::{self, ItemCount};
use crate::keys::key_mapping::KeyMapping;
use crate::model::Model;
use crate::model::each_once::each_once;
use crate::template::{Format, Part, SHARD};

/// Returns the number of time buckets in a year that keep so many characters of a time.
pub fn of_a_year(length: usize) -> f64 {
    match length {
        ..7 => 1.0,
        7 => 12.0,
        8..=10 => 365.0,
        11..=13 => 8_760.0,
        _ => 525_600.0,
    }
}

/// Returns the part of the items that agree in the attributes `fixed` that is under so many time buckets of their key.
pub fn part(mapping: &KeyMapping<'_>, items: ItemCount, fixed: &[String], buckets: f64) -> ItemCount {
    let partition = &mapping.partition;
    let open = each_once(partition.fields()).filter(|name| !fixed.iter().any(|own| own == name));
    let all: f64 = open.filter_map(|name| partition.shortest_bucket(name)).map(of_a_year).product();
    if buckets >= all || items.max <= 1.0 {
        return items;
    }
    let part = |items: f64| (items * buckets / all).max(items.min(1.0));
    ItemCount {
        average: part(items.average),
        max: part(items.max),
        basis: Basis::Assumed,
        max_basis: Basis::Assumed,
    }
}

/// Returns the items under one value of a partition key, whatever its shard and in so many time buckets.
pub fn items_of_value(model: &Model, mapping: &KeyMapping<'_>, buckets: f64) -> ItemCount {
    let whole = mapping.partition.parts.iter().filter_map(|part| match part {
        Part::Field { name, format } if name != SHARD && !matches!(format, Format::Bucket(_)) => {
            Some(name.clone())
        }
        Part::Field { .. } | Part::Text(_) => None,
    });
    let fixed: Vec<String> = whole.collect();
    part(mapping, estimate::items_at(model, mapping, &fixed), &fixed, buckets)
}
