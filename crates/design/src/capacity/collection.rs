//! The size of item collections: everything under one partition key.

use crate::capacity::basis::Estimate;
use crate::capacity::estimate;
use crate::capacity::write_effects::items_of_action;
use crate::capacity::{shards, size};
use crate::keys::key_mapping::KeyMapping;
use crate::keys::keyspace::Keyspace;
use crate::model::{Entity, Model, Verb};
use crate::template::SHARD;

/// The largest item collection of a table with a local index; about as much as one partition holds.
pub const MAX_COLLECTION_BYTES: f64 = 10e9;
const SECONDS_OF_A_YEAR: f64 = 365.0 * 86_400.0;

/// The size of an item collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collection {
    /// The size, as far as the model declares it.
    pub bytes: Estimate,
    /// Whether it is that of an average collection, because the model declares no maximum.
    pub is_average: bool,
}

impl Collection {
    /// Returns the words before its size.
    pub fn word(&self) -> &'static str {
        if self.is_average { "on average" } else { "up to" }
    }
}

/// Returns the size of the largest item collection that contains an entity: that of the declared maxima, and of averages where no maximum is
/// declared. What is assumed does not count.
pub fn largest(keys: &Keyspace<'_>, entity: &Entity) -> Collection {
    let (mut known, mut assumed, mut is_average) = (0.0, 0.0, true);
    for member in keys.collection_members(entity, usize::MAX, |_| true) {
        let items = estimate::items(keys.model, member, &partition_fields(member));
        let most = items.most_known();
        if most.basis.is_assumed() {
            continue;
        }
        let bytes = most * size::in_collection(keys.model, member);
        *(if bytes.basis.is_assumed() { &mut assumed } else { &mut known }) += bytes.value;
        is_average &= items.max_basis.is_assumed() || items.max <= 1.0;
    }
    // Sizes that are assumed matter only if the others are below the limit.
    let bytes = if assumed == 0.0 || known > MAX_COLLECTION_BYTES {
        Estimate::derived(known)
    } else {
        Estimate::assumed(known + assumed)
    };
    Collection { bytes, is_average }
}

/// Returns whether several items of an entity are under one partition key of the table.
pub fn accumulates(model: &Model, entity: &Entity) -> bool {
    estimate::items(model, entity, &partition_fields(entity)).max > 1.0
}

fn partition_fields(entity: &Entity) -> Vec<String> {
    let fields = entity.key.first().into_iter().flat_map(|key| key.fields());
    fields.filter(|name| *name != SHARD).map(str::to_owned).collect()
}

/// Returns the bytes under the fullest partition key of an entity in the table or an index: at the declared number of items, or, if none is
/// declared, after a year of the declared writes.
pub fn at_the_fullest_key(model: &Model, mapping: &KeyMapping<'_>) -> Estimate {
    let entity = mapping.entity;
    let each = size::entry(model, mapping);
    let fields: Vec<String> =
        mapping.partition.fields().filter(|name| *name != SHARD).map(str::to_owned).collect();
    let keys = shards::in_use(model, mapping);
    let (items, shards) = (estimate::items_at(model, mapping, &fields).under_keys(mapping, keys), keys.value);
    let most = items.most_known();
    if !most.basis.is_assumed() {
        return (most * each).map(|bytes| bytes / shards);
    }
    // Items that expire, and those that leave a sparse index, do not accumulate.
    let stays = entity.ttl.is_none() && !mapping.is_sparse() && !mapping.has_time_bucket();
    let created = if stays { created_in_a_year(model, entity) } else { 0.0 };
    let share = items.average / estimate::count(model, entity).max(1.0);
    (Estimate::new(created * share.min(1.0), items.basis) * each).map(|bytes| bytes / shards)
}

/// The items that the declared writes create in a year, less those that they delete.
fn created_in_a_year(model: &Model, entity: &Entity) -> f64 {
    let actions =
        model.writes.iter().flat_map(|write| write.actions.iter().map(move |action| (write, action)));
    let own = actions.filter(|(_, action)| action.entity == entity.name);
    let rate: f64 = own
        .map(|(write, action)| {
            let each = items_of_action(model, write, action, entity).average;
            match action.verb {
                Verb::Create => write.rps.unwrap_or_default() * each,
                Verb::Delete => -write.rps.unwrap_or_default() * each,
                Verb::Put | Verb::Update => 0.0,
            }
        })
        .sum();
    rate.max(0.0) * SECONDS_OF_A_YEAR
}
