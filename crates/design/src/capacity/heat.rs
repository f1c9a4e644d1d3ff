//! Heat: the share of the declared traffic that goes to the hottest partition key.

use crate::capacity::estimate;
use crate::capacity::write_effects;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Entity, Model};
use crate::plan::{Plan, Unserved};
use crate::template::{Format, Part, SHARD};
use std::collections::BTreeMap;

/// The write units that one partition sustains per second.
pub const MAX_WRITES: f64 = 1000.0;
/// The read units that one partition sustains per second.
pub const MAX_READS: f64 = 3000.0;
/// The share of the limit that shards are computed for.
const HEADROOM: f64 = 0.7;
/// The read units of a full page, eventually consistent.
const PAGE_UNITS: f64 = 128.0;

/// The load of the hottest partition key of one entity in the table or an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heat {
    /// Write units per second.
    pub writes: f64,
    /// Read units per second.
    pub reads: f64,
    /// The share of the traffic that goes to the hottest key.
    pub share: f64,
}

impl Heat {
    /// Returns the number of shards that keeps it below the limits.
    pub fn shards(&self) -> u64 {
        let needed = (self.writes / (MAX_WRITES * HEADROOM)).max(self.reads / (MAX_READS * HEADROOM));
        needed.ceil().max(1.0) as u64
    }

    /// Returns whether it exceeds the limits of a partition.
    pub fn is_hot(&self) -> bool {
        self.writes > MAX_WRITES || self.reads > MAX_READS
    }
}

/// Returns the share of all requests that goes to the hottest partition key.
pub fn share(model: &Model, mapping: &KeyMapping<'_>) -> f64 {
    let mut share = 1.0;
    let entity = mapping.entity;
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        if name == SHARD {
            share /= mapping.shards() as f64;
            continue;
        }
        let Some(attribute) = entity.attribute(name) else { continue };
        if matches!(format, Format::Bucket(_)) || attribute.kind.is_time() {
            // All traffic goes to the current bucket.
            continue;
        }
        let part = attribute.top.unwrap_or_else(|| match mapping.when.fixed(name) {
            Some(_) => 1.0,
            None => typical_share(model, entity, name),
        });
        share *= part.clamp(0.0, 1.0);
    }
    share
}

/// Choices and booleans are skewed; identifiers are even unless the expectations say otherwise.
fn typical_share(model: &Model, entity: &Entity, name: &str) -> f64 {
    let attribute = entity.attribute(name);
    if attribute.is_some_and(|attribute| attribute.values.is_none() && attribute.distinct().is_some()) {
        return 1.0;
    }
    let per = entity.expect.per.as_deref().and_then(|parent| model.entity(parent));
    if let (Some(parent), Some(max)) = (per, entity.expect.max)
        && parent.identity() == Some(name)
        && estimate::is_counted(model, parent)
    {
        let total = estimate::count(model, entity).max(1.0);
        return (max as f64 / total).max(1.0 / estimate::count(model, parent).max(1.0)).min(1.0);
    }
    match estimate::distinct(model, entity, name) {
        Some(values) => 1.0 / values.max(1.0),
        None => 0.001,
    }
}

/// Returns the heat of every entity in the table and every index that has declared traffic, by location and entity.
pub fn heat(
    model: &Model,
    plans: &BTreeMap<&str, Result<Plan<'_>, Unserved<'_>>>,
) -> BTreeMap<(String, String), Heat> {
    let mut heats: BTreeMap<(String, String), Heat> = BTreeMap::new();
    for write in &model.writes {
        let rate = write.rps.unwrap_or_default();
        for effect in write_effects::effects(model, write) {
            let Some(entity) = model.entity(&effect.entity) else { continue };
            let location = TableOrIndex { index: effect.index.as_deref().and_then(|name| model.index(name)) };
            let Some(mapping) = location.mapping(entity) else { continue };
            let share = share(model, &mapping);
            let heat = heats.entry((location.name().to_owned(), entity.name.clone())).or_default();
            heat.writes += rate * effect.units * share;
            heat.share = heat.share.max(share);
        }
    }
    for pattern in &model.patterns {
        let Some(Ok(plan)) = plans.get(pattern.name.as_str()) else { continue };
        for step in &plan.steps {
            let Some(mapping) = step.targets.first().and_then(|entity| step.location.mapping(entity)) else {
                continue;
            };
            // Every call reads every shard: shards divide what a call reads, not the number of calls.
            let calls = share(model, &mapping) * mapping.shards() as f64;
            let heat =
                heats.entry((step.location.name().to_owned(), mapping.entity.name.clone())).or_default();
            // An assumed amount proves nothing: it counts up to one page.
            let most = if step.items.known { f64::MAX } else { PAGE_UNITS };
            let each = (step.units() / step.fan_out.max(1) as f64).min(most);
            heat.reads += pattern.rps.unwrap_or_default() * each * calls.min(1.0);
        }
    }
    heats
}
