//! How far shards spread the items of one logical partition key. A shard that is computed from an attribute is the same for all items with one
//! value: there are no more shards in use than the attribute has values there.

use crate::capacity::basis::Estimate;
use crate::capacity::estimate;
use crate::item::Attributes;
use crate::keys::key_mapping::KeyMapping;
use crate::model::{Attribute, Model, Shard};
use crate::template::SHARD;
use std::collections::BTreeSet;

/// Returns whether one item is all that is under one logical partition key: shards do not spread it. Those that are declared to have one identity
/// may be the parts of a counter.
pub fn is_single(mapping: &KeyMapping<'_>) -> bool {
    let entity = mapping.entity;
    let is_named = entity.identity.is_empty() && entity.versions.is_none();
    is_named
        && entity
            .identity()
            .is_some_and(|id| mapping.partition.has_field(id) && !mapping.partition.truncates(id))
}

/// Returns in how many shards the items of one logical partition key are; 1 if the key has none.
pub fn in_use(model: &Model, mapping: &KeyMapping<'_>) -> Estimate {
    if is_single(mapping) {
        return Estimate::derived(1.0);
    }
    let all = Estimate::derived(mapping.shards() as f64);
    let known = hashed(mapping).and_then(|(shard, by)| shards_of(model, mapping, shard, by));
    known.filter(|known| known.value < all.value).unwrap_or(all)
}

/// Returns the attribute that selects the shard of an item, if one does and there are several.
pub fn hashed<'a>(mapping: &'a KeyMapping<'_>) -> Option<(&'a Shard, &'a Attribute)> {
    let shard = mapping.shard.filter(|_| mapping.shards() > 1)?;
    Some((shard, mapping.entity.attribute(shard.by.as_deref()?)?))
}

/// Returns the attribute whose hash would spread the items of one logical partition key evenly: the identifier, unless the key holds it already.
pub fn spreading_attribute<'a>(mapping: &'a KeyMapping<'_>) -> Option<&'a str> {
    let entity = mapping.entity;
    let own = entity.identity().into_iter().chain(entity.edge.iter().map(String::as_str));
    own.into_iter().find(|name| !mapping.partition.has_field(name) && entity.attribute(name).is_some())
}

/// The shards that the values of the attribute select. Items without it may be in any.
fn shards_of(model: &Model, mapping: &KeyMapping<'_>, shard: &Shard, by: &Attribute) -> Option<Estimate> {
    if mapping.partition.parts.iter().any(|part| part.holds_whole(&by.name, mapping.entity)) {
        return Some(Estimate::derived(1.0));
    }
    if !mapping.always_has(&by.name) {
        return None;
    }
    let selected = |text: &str| {
        let values = Attributes::from([(by.name.clone(), text.to_owned())]);
        shard.required(&values).map_or_else(|| text.to_owned(), |number| number.to_string())
    };
    if let Some(listed) = mapping.values_of(&by.name) {
        let different: BTreeSet<String> = listed.iter().map(|value| selected(value.as_str())).collect();
        return Some(Estimate::derived(different.len().max(1) as f64));
    }
    let values = estimate::distinct(model, mapping.entity, &by.name);
    let here = of_the_parent(model, mapping, &by.name)
        .filter(|here| values.is_none_or(|all| here.value < all.value));
    here.or(values).map(|values| values.map(|values| values.max(1.0)))
}

/// The number of values under one partition key, where they identify an entity of which a parent in the partition key has a declared number.
fn of_the_parent(model: &Model, mapping: &KeyMapping<'_>, by: &str) -> Option<Estimate> {
    let owner = model.owner_of(by).filter(|owner| owner.name != mapping.entity.name)?;
    let fields = mapping.partition.fields().filter(|name| *name != SHARD && owner.attribute(name).is_some());
    let fixed: Vec<String> = fields.map(str::to_owned).collect();
    let most = estimate::items(model, owner, &fixed).max();
    (!fixed.is_empty() && !most.basis.is_assumed()).then_some(most)
}
