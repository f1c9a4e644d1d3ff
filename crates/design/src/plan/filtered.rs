//! Which attributes the filters of requests test. A filter drops an item that has the value only inside a key.

use super::text_range::range_test;
use super::{Operation, Step, plans};
use crate::keys::keyspace::Keyspace;
use crate::model::{Model, Pattern};
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
                let names = tested(pattern, step);
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

/// The attributes that the filter of a step tests.
fn tested<'p>(pattern: &'p Pattern, step: &Step<'_>) -> BTreeSet<&'p str> {
    let is_tested = |test: String| step.filter.contains(&test);
    let inputs = pattern.inputs.iter().map(String::as_str);
    let inputs = inputs.filter(|name| is_tested(format!("{name} = :{name}")));
    let parts = pattern.filter.conjuncts().into_iter().filter(|part| is_tested(part.to_string()));
    let range = pattern.range.iter().map(|range| range.by.as_str()).filter(|by| is_tested(range_test(by)));
    inputs.chain(parts.flat_map(|part| part.attributes())).chain(range).collect()
}
