//! Heat: the share of the declared traffic that goes to the hottest partition key.

use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::estimate;
use crate::capacity::key_values;
use crate::capacity::shards;
use crate::capacity::traffic::Shape;
use crate::capacity::write_effects;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::limits::Precision;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model, Pattern};
use crate::plan::{Operation, Plan, Step, Unserved};
use crate::template::{Format, Part};
use std::collections::BTreeMap;

/// The write units that one partition sustains per second.
pub const MAX_WRITES: f64 = 1000.0;
/// The read units that one partition sustains per second.
pub const MAX_READS: f64 = 3000.0;
/// The share of the limit that shards are computed for.
const HEADROOM: f64 = 0.7;
/// The share of the hottest of many values whose number is not known.
const ASSUMED_SHARE: f64 = 0.001;

/// The load of the hottest partition key of one entity in the table or an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heat {
    /// Write units per second.
    pub writes: f64,
    /// Read units per second.
    pub reads: f64,
    /// The write units per second that do not rest on assumptions.
    pub proven_writes: f64,
    /// The read units per second that do not rest on assumptions.
    pub proven_reads: f64,
    /// The share of the traffic that goes to the hottest key.
    pub share: f64,
}

impl Heat {
    /// Returns the number of evenly used shards that keeps the writes below the limit, where the hottest one takes `share` of them now. Every read
    /// visits all shards: they divide writes only.
    pub fn shards(&self, share: f64) -> u64 {
        (self.writes / share / (MAX_WRITES * HEADROOM)).ceil().max(1.0) as u64
    }

    /// Returns the number of copies that keeps the reads below the limit.
    pub fn copies(&self) -> u64 {
        (self.reads / (MAX_READS * HEADROOM)).ceil().max(1.0) as u64
    }

    /// Returns whether it exceeds the limits of a partition.
    pub fn is_hot(&self) -> bool {
        self.writes > MAX_WRITES || self.reads > MAX_READS
    }

    /// Returns whether it exceeds the limits of a partition without any assumption.
    pub fn is_proven(&self) -> bool {
        self.proven_writes > MAX_WRITES || self.proven_reads > MAX_READS
    }

    /// Returns the part that does not rest on assumptions.
    pub fn proven(&self) -> Heat {
        Heat { writes: self.proven_writes, reads: self.proven_reads, ..*self }
    }

    /// Returns what the figures rest on.
    pub fn basis(&self) -> Basis {
        let proven = self.proven_writes >= self.writes && self.proven_reads >= self.reads;
        if proven { Basis::Derived } else { Basis::Assumed }
    }

    /// Adds the heat of another entity under the same key.
    pub fn add(&mut self, other: &Heat) {
        self.writes += other.writes;
        self.reads += other.reads;
        self.proven_writes += other.proven_writes;
        self.proven_reads += other.proven_reads;
        self.share = self.share.max(other.share);
    }
}

/// The share of all requests that goes to the hottest partition key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share, as far as it can be told.
    pub likely: Estimate,
    /// The share that it has at least, without any assumption.
    pub least: f64,
    /// The share that it has at least by the number of keys alone, whatever other attributes have: one of n takes a share of 1/n of any requests.
    even: f64,
}

impl Share {
    /// The share of one of so many keys that share the requests evenly.
    fn even(share: Estimate) -> Share {
        let least = if share.basis.is_assumed() { 0.0 } else { share.value };
        Share { likely: share, least, even: least }
    }

    /// The declared or derived share of the most frequent of these keys, whose number is not assumed or not known.
    fn top(share: Estimate, values: Option<Estimate>) -> Share {
        let even =
            values.filter(|values| !values.basis.is_assumed()).map(|values| 1.0 / values.value.max(1.0));
        Share { likely: share, least: share.value, even: even.unwrap_or_default() }
    }

    /// The share of the hottest pair. Nothing says that the most frequent values of both occur together; that much is certain without it.
    fn times(self, other: Share) -> Share {
        let common = self.least + other.least - 1.0;
        let least = common.max(self.least * other.even).max(self.even * other.least);
        Share { likely: self.likely * other.likely, least, even: self.even * other.even }
    }

    /// The share of the hottest of so many keys: it is no less than it would be if all shared the requests evenly.
    fn among(self, keys: Option<Estimate>) -> Share {
        let even = keys.map(|keys| keys.map(|keys| 1.0 / keys.max(1.0)));
        let likely = even.filter(|even| even.value > self.likely.value).unwrap_or(self.likely);
        Share { likely, ..self }
    }
}

/// Returns the share of all requests that goes to the hottest partition key.
pub fn share(model: &Model, mapping: &KeyMapping<'_>) -> Share {
    let share = share_of_logical_key(model, mapping).times(share_of_shard(model, mapping));
    share.among(key_values::number(model, mapping, shards::in_use(model, mapping)))
}

/// The share of the hottest partition key if all its shards were one.
fn share_of_logical_key(model: &Model, mapping: &KeyMapping<'_>) -> Share {
    let mut share = Share::even(Estimate::derived(1.0));
    let entity = mapping.entity;
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        let Some(attribute) = entity.attribute(name) else { continue };
        if matches!(format, Format::Bucket(_)) || attribute.kind.is_time() {
            // All traffic goes to the current bucket.
            continue;
        }
        share = share.times(match attribute.top {
            Some(top) => {
                Share::top(Estimate::declared(top.clamp(0.0, 1.0)), estimate::distinct(model, entity, name))
            }
            None if mapping.when.fixed(name).is_some() => Share::even(Estimate::derived(1.0)),
            None => typical_share(model, entity, name),
        });
    }
    share.among(key_values::number(model, mapping, Estimate::derived(1.0)))
}

/// Returns the share of the hottest shard of a partition key.
pub fn share_of_shard(model: &Model, mapping: &KeyMapping<'_>) -> Share {
    let in_use = shards::in_use(model, mapping);
    let even = Share::even(in_use.map(|shards| 1.0 / shards));
    let Some((_, by)) = shards::hashed(mapping) else { return even };
    if is_current(by) {
        return Share::even(Estimate::derived(1.0));
    }
    let least = even.least.max(1.0 / mapping.shards() as f64);
    // The shard of the most frequent value; of a condition's values the most frequent is not known.
    let top = by.top.filter(|_| !mapping.when.mentions(&by.name)).unwrap_or_default().clamp(0.0, 1.0);
    let likely = if top > even.likely.value { Estimate::declared(top) } else { even.likely };
    Share { likely, least: least.max(top), even: least }
}

/// Returns whether what is written at a time has one value: the present day, minute or second.
fn is_current(attribute: &Attribute) -> bool {
    let is_coarse = matches!(attribute.limits.precision, Some(Precision::Minute | Precision::Second));
    attribute.kind == ValueType::Date || (attribute.kind == ValueType::Timestamp && is_coarse)
}

/// Choices and booleans are assumed to be skewed, though one of them may take no more than its even share; identifiers are even unless
/// the expectations say otherwise.
fn typical_share(model: &Model, entity: &Entity, name: &str) -> Share {
    let own = entity.attribute(name).filter(|attribute| attribute.values.is_none());
    if let Some(values) = own.and_then(estimate::own_distinct) {
        let even = Share::even(values.map(|values| 1.0 / values.max(1.0)));
        return Share { likely: Estimate::assumed(1.0), ..even };
    }
    let per = entity.expect.per.as_deref().and_then(|parent| model.entity(parent));
    if let (Some(parent), Some(max)) = (per, entity.expect.max)
        && parent.identity() == Some(name)
        && estimate::is_counted(model, parent)
    {
        let total = estimate::count(model, entity).max(1.0);
        let share = (max as f64 / total).max(1.0 / estimate::count(model, parent).max(1.0));
        return Share::top(Estimate::derived(share.min(1.0)), Some(estimate::total(model, parent)));
    }
    let even = estimate::distinct(model, entity, name).map(|all| all.map(|values| 1.0 / values.max(1.0)));
    Share::even(even.unwrap_or(Estimate::assumed(ASSUMED_SHARE)))
}

/// Returns the heat of every entity in the table and every index that has declared traffic, at its peak, by location and entity.
pub fn heat(
    model: &Model,
    plans: &BTreeMap<&str, Result<Plan<'_>, Unserved<'_>>>,
) -> BTreeMap<(String, String), Heat> {
    let shape = Shape::of(model);
    let mut heats: BTreeMap<(String, String), Heat> = BTreeMap::new();
    for write in &model.writes {
        let rate = write.rps.unwrap_or_default() * shape.peak_of(write.peak);
        for effect in write_effects::effects(model, write) {
            let Some(entity) = model.entity(&effect.entity) else { continue };
            let location = TableOrIndex { index: effect.index.as_deref().and_then(|name| model.index(name)) };
            let Some(mapping) = location.mapping(entity) else { continue };
            let share = share(model, &mapping);
            let heat = heats.entry((partition_owner(location), entity.name.clone())).or_default();
            heat.writes += rate * effect.units * share.likely.value;
            heat.proven_writes += rate * effect.proven_units() * share.least;
            heat.share = heat.share.max(share.likely.value);
        }
    }
    for pattern in &model.patterns {
        let Some(Ok(plan)) = plans.get(pattern.name.as_str()) else { continue };
        // A Scan reads all keys alike: none is the hottest by it.
        for step in plan.steps.iter().filter(|step| step.operation != Operation::Scan) {
            let Some(mapping) = step.targets.first().and_then(|entity| step.location.mapping(entity)) else {
                continue;
            };
            let rate = pattern.rps.unwrap_or_default() * shape.peak_of(pattern.peak);
            // A call that does not know its shard reads all of them: they divide what a call reads, not the number of calls.
            let calls = match knows_shard(pattern, step, &mapping) {
                true => share(model, &mapping),
                false => share_of_logical_key(model, &mapping),
            };
            let heat =
                heats.entry((partition_owner(step.location), mapping.entity.name.clone())).or_default();
            // Items that are followed lead to different keys, each with its share of the requests.
            let requests = if step.follow.is_some() { 1.0 } else { step.fan_out.max(1.0) };
            let each = step.units() / requests;
            heat.reads += rate * each * calls.likely.value;
            heat.proven_reads += rate * proven_units(model, step, each) * calls.least;
        }
    }
    heats
}

/// Whether the caller can compute in which shard the items are.
fn knows_shard(pattern: &Pattern, step: &Step<'_>, mapping: &KeyMapping<'_>) -> bool {
    let is_known = |by: &str| match &step.follow {
        Some(follow) => follow.links.iter().any(|link| link.to == by),
        None => pattern.is_fixed(by),
    };
    mapping.shard.and_then(|shard| shard.by.as_deref()).is_some_and(is_known)
}

/// The name of the table or index whose partitions take the load: those of the table have its local indexes too.
fn partition_owner(location: TableOrIndex<'_>) -> String {
    TableOrIndex { index: location.index.filter(|index| !index.local) }.name().to_owned()
}

/// The units that a request certainly takes: at least the smallest read.
fn proven_units(model: &Model, step: &Step<'_>, each: f64) -> f64 {
    if step.basis(model).is_assumed() { estimate::read_units(0.0, step.strong).min(each) } else { each }
}
