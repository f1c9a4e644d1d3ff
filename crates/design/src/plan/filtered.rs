//! Which attributes the filters of requests test. A filter drops an item that has the value only inside a key.

use super::requirement::Requirement;
use super::{Operation, plans};
use crate::keys::keyspace::Keyspace;
use crate::model::Model;
use std::collections::{BTreeSet, HashMap};

/// The attributes of each entity that a planned or declared request filters by.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilteredAttributes {
    by_entity: HashMap<String, BTreeSet<String>>,
}

impl FilteredAttributes {
    pub fn of(model: &Model) -> FilteredAttributes {
        let keys = Keyspace::new(model);
        let plans = plans(&keys);
        let mut filtered = FilteredAttributes::default();
        for pattern in &model.patterns {
            let planned = plans.get(pattern.name.as_str()).and_then(|plan| plan.as_ref().ok());
            let steps = planned.into_iter().flat_map(|plan| &plan.steps);
            for step in steps.filter(|step| step.operation == Operation::Query) {
                let names = step.filter.iter().flat_map(Requirement::attributes).collect();
                step.targets.iter().for_each(|entity| filtered.add(&entity.name, &names));
            }
            if let Some(request) = &pattern.request {
                let names = request.filter.attributes().into_iter().collect();
                pattern.targets.iter().for_each(|target| filtered.add(&target.entity, &names));
            }
        }
        filtered
    }

    fn add(&mut self, entity: &str, names: &BTreeSet<&str>) {
        if !names.is_empty() {
            let own = self.by_entity.entry(entity.to_owned()).or_default();
            own.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }

    pub fn contains(&self, entity: &str, attribute: &str) -> bool {
        self.by_entity.get(entity).is_some_and(|names| names.contains(attribute))
    }
}
