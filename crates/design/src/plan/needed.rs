//! Which attributes items must have outside their keys: an item that has the value only inside a key is dropped by filters, is not in indexes
//! by the attribute, never expires, and fails the condition of a lock.

use super::requirement::Requirement;
use super::{Step, plans};
use crate::keys::keyspace::Keyspace;
use crate::model::{Entity, Model};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// What items need an attribute for.
#[derive(Clone, Debug)]
pub(crate) enum Need {
    /// A planned or declared request filters by it.
    Filter,
    /// A request reads the index with this name, of which it is a key.
    Index(String),
    /// It is the expiry time.
    Expiry,
    /// It is the version that every update must match.
    Lock,
}

impl fmt::Display for Need {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Filter => out.write_str("requests filter by it"),
            Need::Index(index) => write!(out, "requests read {index}, which holds items by it"),
            Need::Expiry => out.write_str("items expire by it"),
            Need::Lock => out.write_str("updates compare it"),
        }
    }
}

/// The attributes of each entity that its items must have outside their keys, and what for.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeededAttributes {
    by_entity: HashMap<String, BTreeMap<String, Need>>,
}

impl NeededAttributes {
    pub fn of(model: &Model) -> NeededAttributes {
        let keys = Keyspace::new(model);
        let plans = plans(&keys);
        let mut needed = NeededAttributes::default();
        for pattern in &model.patterns {
            let planned = plans.get(pattern.name.as_str()).and_then(|plan| plan.as_ref().ok());
            let steps = planned.into_iter().flat_map(|plan| &plan.steps);
            for step in steps.filter(|step| !step.operation.is_by_key()) {
                needed.add_step(step);
            }
            if let Some(request) = &pattern.request {
                for name in request.filter.attributes() {
                    pattern.targets.iter().for_each(|target| needed.add(&target.entity, name, Need::Filter));
                }
            }
        }
        for entity in &model.entities {
            let expiry = entity.ttl.iter().chain(&model.table.ttl).map(|name| (name, Need::Expiry));
            let lock = entity.lock.iter().map(|name| (name, Need::Lock));
            expiry.chain(lock).for_each(|(name, need)| needed.add(&entity.name, name, need));
        }
        needed
    }

    fn add_step(&mut self, step: &Step<'_>) {
        for entity in &step.targets {
            for name in step.filter.iter().flat_map(Requirement::attributes) {
                self.add(&entity.name, name, Need::Filter);
            }
            let Some(index) = step.location.index else { continue };
            for name in index.keys.iter().filter(|name| is_own_key(entity, &index.name, name)) {
                self.add(&entity.name, name, Need::Index(index.name.clone()));
            }
        }
    }

    fn add(&mut self, entity: &str, attribute: &str, need: Need) {
        let own = self.by_entity.entry(entity.to_owned()).or_default();
        own.entry(attribute.to_owned()).or_insert(need);
    }

    pub fn need(&self, entity: &str, attribute: &str) -> Option<&Need> {
        self.by_entity.get(entity)?.get(attribute)
    }
}

/// Whether the key of an index is an attribute of the entity itself, and not generated from others.
fn is_own_key(entity: &Entity, index: &str, name: &str) -> bool {
    let key = entity.index_key(index).into_iter().flat_map(|own| &own.key);
    entity.attribute(name).is_some() && key.into_iter().any(|template| template.bare_field() == Some(name))
}
