//! The rules that a model has for the items of its table, by name, so that two models can be compared.
//!
//! A rule is kept if every item that the new model accepts is one that the old model's rule accepts, as far as that can be shown from their
//! definitions: what cannot be shown counts as lost.

use super::copying::Copying;
use super::effort::start_alike;
use super::values::{declares_expiry, expiries};
use crate::keys::key_mapping::is_natural;
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Aggregate, Attribute, Entity, IndexKey, Model, Shard};
use crate::plan::needed::Need;
use crate::template::{FieldTypes, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

/// How many pairs of entities are compared key by key: what cannot be shown in that time counts as lost.
const MAX_COMPARED: usize = 200;

/// Returns what the model demands of items: `unique email of User`, `copy OrderById of Order`.
pub fn rules(model: &Model) -> BTreeSet<String> {
    let mut rules: BTreeSet<String> =
        model.table.type_attribute.iter().map(|name| format!("type in {name}")).collect();
    rules.extend(expiries(model).into_iter().map(|name| format!("ttl {name}")));
    model.entities.iter().for_each(|entity| rules.extend(rules_of(entity)));
    rules
}

/// Returns the rules of a model that another one does not have, or that admit more values there.
pub fn lost_rules(old: &Model, new: &Model) -> Vec<String> {
    let mut lost: BTreeSet<String> = rules(old).difference(&rules(new)).cloned().collect();
    let expiries = &expiries(old);
    for (entity, now) in old.entities.iter().filter_map(|entity| Some((entity, new.entity(&entity.name)?))) {
        lost.extend(Successor { old, new, entity, now, expiries }.lost());
    }
    lost.extend(taken_over(old, new));
    lost.into_iter().collect()
}

fn rules_of(entity: &Entity) -> Vec<String> {
    let name = &entity.name;
    let mut rules = vec![key_rule(entity)];
    rules.extend(entity.attributes.iter().map(|own| value_rule(entity, own)));
    rules.extend(entity.indexes.iter().map(|own| index_rule(entity, own)));
    rules.extend(entity.unique.iter().map(|own| format!("unique {} of {name}", own.join(" and "))));
    rules.extend(entity.copies.iter().map(|original| copy_rule(entity, original)));
    rules.extend(entity.versions.iter().map(|own| format!("version {own} of {name}")));
    rules.extend(entity.aggregates.iter().map(|own| aggregate_rule(entity, own)));
    rules.extend(entity.lock.iter().map(|own| format!("lock {own} of {name}")));
    rules
}

fn key_rule(entity: &Entity) -> String {
    format!("key of {}", entity.name)
}

fn value_rule(entity: &Entity, attribute: &Attribute) -> String {
    format!("value of {} in {}", attribute.name, entity.name)
}

fn index_rule(entity: &Entity, index_key: &IndexKey) -> String {
    format!("index {} of {}", index_key.index, entity.name)
}

fn copy_rule(entity: &Entity, original: &str) -> String {
    format!("copy {} of {original}", entity.name)
}

fn aggregate_rule(entity: &Entity, aggregate: &Aggregate) -> String {
    format!("aggregate {} of {}", aggregate.name, entity.name)
}

/// An entity in the old and in the new model.
struct Successor<'m> {
    old: &'m Model,
    new: &'m Model,
    entity: &'m Entity,
    now: &'m Entity,
    /// The attributes by which items expire in the old model.
    expiries: &'m BTreeSet<&'m String>,
}

impl Successor<'_> {
    /// The rules that both have by name, and that the new model does not keep.
    fn lost(&self) -> Vec<String> {
        let Successor { entity, now, .. } = *self;
        let mut lost = Vec::new();
        if entity.type_value != now.type_value {
            lost.push(format!("type {} of {}", entity.type_value, entity.name));
        }
        if !self.keeps_key() {
            lost.push(key_rule(entity));
        }
        let wider =
            |own: &&Attribute| now.attribute(&own.name).is_some_and(|now| !self.keeps_values(own, now));
        lost.extend(entity.attributes.iter().filter(wider).map(|own| value_rule(entity, own)));
        let keyed = entity.attributes.iter().filter_map(|own| Some((own, self.lost_need(own)?)));
        lost.extend(keyed.map(|(own, need)| format!("{}, outside keys: {need}", value_rule(entity, own))));
        let admitted = now.attributes.iter().filter(|own| self.was_barred(&own.name));
        lost.extend(admitted.map(|own| format!("absence of {} in {}", own.name, entity.name)));
        let other =
            |own: &&IndexKey| now.index_key(&own.index).is_some_and(|now| !self.keeps_index(own, now));
        lost.extend(entity.indexes.iter().filter(other).map(|own| index_rule(entity, own)));
        lost.extend(entity.copies.iter().filter(|_| !self.keeps_copy()).map(|own| copy_rule(entity, own)));
        let changed = |own: &&Aggregate| {
            let same = now.aggregates.iter().find(|other| other.name == own.name);
            same.is_some_and(|other| !self.keeps_aggregate(own, other))
        };
        lost.extend(entity.aggregates.iter().filter(changed).map(|own| aggregate_rule(entity, own)));
        lost
    }

    fn keeps_key(&self) -> bool {
        let Successor { old, new, entity, now, .. } = *self;
        old.table.keys == new.table.keys
            && entity.key == now.key
            && keeps_shard(&entity.key, entity.shard.as_ref(), now.shard.as_ref())
            && self.keeps_items()
    }

    /// Whether no item becomes one of another entity because its own admits fewer keys.
    fn keeps_items(&self) -> bool {
        let Successor { new, entity, now, .. } = *self;
        let is_same = |field: &str| {
            entity.type_of(field) == now.type_of(field) && entity.sign(field) == now.sign(field)
        };
        if entity.delimiter() == now.delimiter() && entity.key_fields().all(is_same) {
            return true;
        }
        let others = new.entities.iter().filter(|other| other.name != now.name);
        let mut alike = others.filter(|other| is_alike(new, now, other)).enumerate();
        !alike.any(|(number, other)| number >= MAX_COMPARED || share_keys(entity, other))
    }

    /// Whether whatever the new attribute admits, the old one does.
    fn keeps_values(&self, own: &Attribute, now: &Attribute) -> bool {
        let is_id = matches!(own.kind, ValueType::Id);
        now.is_within(own)
            && (!is_id || self.entity.delimiter() == self.now.delimiter())
            && (!self.entity.is_required(&own.name) || self.now.is_required(&own.name))
    }

    /// What items had to have an attribute for that may now be in a key only.
    fn lost_need(&self, own: &Attribute) -> Option<&Need> {
        let Successor { old, new, entity, now, .. } = *self;
        let name = own.name.as_str();
        let mut keys = now.key.iter().chain(now.indexes.iter().flat_map(|own| &own.key));
        let need = old.need_outside_keys(entity, name)?;
        let is_left = new.need_outside_keys(now, name).is_none()
            && keys.any(|template| template.has_field(name) && !template.loses(name));
        is_left.then_some(need)
    }

    /// Whether items must not have had an attribute: it would put them into an index, or make them expire.
    fn was_barred(&self, name: &str) -> bool {
        let Successor { old, entity, expiries, .. } = *self;
        let expires = expiries.iter().any(|own| own.as_str() == name) && !declares_expiry(old, entity, name);
        expires || old.lookup().generated_keys(old).bars(old, entity, name)
    }

    fn keeps_index(&self, own: &IndexKey, now: &IndexKey) -> bool {
        let shards = [(own, self.entity), (now, self.now)]
            .map(|(key, entity)| key.shard.as_ref().or(entity.shard.as_ref()));
        generated_keys(self.old, own) == generated_keys(self.new, now)
            && self.is_same(&own.when, &now.when)
            && keeps_shard(&own.key, shards[0], shards[1])
    }

    /// Whether two conditions hold for the same items.
    fn is_same(&self, own: &Condition, now: &Condition) -> bool {
        own.implies(now, self.now) && now.implies(own, self.now)
    }

    /// Whether the copy is compared with the same items of its original.
    fn keeps_copy(&self) -> bool {
        let Successor { old, new, entity, now, .. } = *self;
        let originals = [(old, entity), (new, now)].map(|(model, copy)| {
            copy.copies.as_deref().and_then(|name| model.entity(name)).map(Entity::identifying)
        });
        let pairings = [(old, entity), (new, now)].map(|(model, copy)| {
            Copying::of_copy(model, copy)
                .map(|own| (own.is_versioned(), own.is_comparable(), own.locates_copy()))
        });
        entity.identity == now.identity
            && entity.latest == now.latest
            && originals[0] == originals[1]
            && pairings[0] == pairings[1]
    }

    fn keeps_aggregate(&self, own: &Aggregate, now: &Aggregate) -> bool {
        let child = self.new.entity(&own.of);
        let is_same =
            |child: &Entity| own.filter.implies(&now.filter, child) && now.filter.implies(&own.filter, child);
        own.function == now.function
            && own.of == now.of
            && own.attribute == now.attribute
            && self.entity.identifying() == self.now.identifying()
            && child.is_some_and(is_same)
    }
}

/// The attributes of an index key that templates generate.
fn generated_keys<'m>(model: &'m Model, index_key: &'m IndexKey) -> BTreeMap<&'m str, &'m Template> {
    let names = model.index(&index_key.index).map(|index| index.keys.as_slice()).unwrap_or_default();
    let keys = names.iter().zip(&index_key.key);
    let generated = keys.filter(|(name, template)| !is_natural(model, name, template));
    generated.map(|(name, template)| (name.as_str(), template)).collect()
}

/// Whether the new shards are among those that the old ones permit.
fn keeps_shard(templates: &[Template], old: Option<&Shard>, new: Option<&Shard>) -> bool {
    let is_used = templates.iter().any(|template| template.has_field(SHARD));
    match (old, new) {
        (Some(old), Some(new)) if is_used => old == new || (!old.is_computed() && new.count <= old.count),
        (None, None) => true,
        _ => !is_used,
    }
}

/// The entities whose items may now count as those of another one, which has other rules: no type tells them apart, and the other comes first.
fn taken_over(old: &Model, new: &Model) -> Vec<String> {
    let positions: BTreeMap<&str, usize> =
        old.entities.iter().enumerate().map(|(number, entity)| (entity.name.as_str(), number)).collect();
    let (mut lost, mut compared) = (Vec::new(), 0);
    for (number, entity) in new.entities.iter().enumerate() {
        let Some(before) = positions.get(entity.name.as_str()) else { continue };
        let is_new = |other: &&Entity| positions.get(other.name.as_str()).is_none_or(|other| other > before);
        let mut others =
            new.entities[..number].iter().filter(is_new).filter(|other| is_alike(new, entity, other));
        let may_be = |other: &&Entity| {
            compared += 1;
            compared > MAX_COMPARED || share_keys(entity, other)
        };
        if let Some(other) = others.find(may_be) {
            lost.push(format!("{}, which {} may have too", key_rule(entity), other.name));
        }
    }
    lost
}

/// Whether neither types nor the start of keys tell the items of two entities apart.
fn is_alike(model: &Model, entity: &Entity, other: &Entity) -> bool {
    let has_type = model.table.type_attribute.is_some() && entity.type_value != other.type_value;
    !has_type && start_alike(entity, other)
}

/// Whether an item may have the keys of either entity.
fn share_keys(entity: &Entity, other: &Entity) -> bool {
    let mut keys = entity.key.iter().zip(&other.key);
    keys.all(|(own, others)| own.overlaps(entity, others, other, true, false))
}
