//! The model with the numbers, the sizes and the values of the items that there are: what predictions for these items rest on.

use super::call::{Known, asked, inputs_of, is_asked};
use crate::capacity::estimate::{self, own_distinct};
use crate::generate::Generator;
use crate::item::item_size;
use crate::model::{Entity, Model, Pattern};
use crate::plan::Plan;
use crate::plan::requirement::Requirement;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How many items of an entity are measured.
const MEASURED: u64 = 100;

/// Returns the model with the numbers, the sizes and the values of the items that a generator makes.
pub fn counted_model(generator: &Generator<'_>, all: &[Known<'_>]) -> Model {
    let mut model = generator.seeded_model();
    let mut values = distinct_values(all);
    for (seeded, entity) in model.entities.iter_mut().zip(&generator.model.entities) {
        let mut counted = values.remove(entity.name.as_str()).unwrap_or_default();
        for attribute in &mut seeded.attributes {
            let is_open = own_distinct(attribute).is_none_or(|values| values.basis.is_assumed());
            let counted = counted.remove(attribute.name.as_str()).filter(|_| is_open);
            attribute.values = counted.map(|values| values.len() as u64).or(attribute.values);
        }
        let measured = generator.count(entity).min(MEASURED);
        let numbers = generator.numbers(entity).take(measured as usize);
        let bytes = numbers.map(|number| item_size(&generator.item(entity, number)) as u64).sum::<u64>();
        seeded.expect.bytes = Some(bytes / measured.max(1));
    }
    model
}

/// The values of each attribute, by entity.
fn distinct_values<'i>(items: &'i [Known<'_>]) -> BTreeMap<&'i str, BTreeMap<&'i str, HashSet<&'i str>>> {
    let mut values: BTreeMap<_, BTreeMap<_, HashSet<_>>> = BTreeMap::new();
    for item in items {
        let own = values.entry(item.entity().name.as_str()).or_default();
        for (name, text) in item.texts() {
            own.entry(name.as_str()).or_default().insert(text.as_str());
        }
    }
    values
}

/// Returns a counted model with the numbers that the calls of a pattern see: the items of each entity are those of the values that are asked for, and of
/// the parents that have any.
pub fn asked_model(counted: &Model, pattern: &Pattern, all: &[Known<'_>]) -> Model {
    let mut model = counted.clone();
    for (number, entity) in
        counted.entities.iter().enumerate().filter(|(_, entity)| is_asked(pattern, entity))
    {
        let own: Vec<&Known<'_>> = all.iter().filter(|one| one.entity.name == entity.name).collect();
        let combinations = |names: &[&str]| {
            let values = |one: &&&Known<'_>| -> Option<Vec<String>> {
                names.iter().map(|name| one.texts.get(*name).cloned()).collect()
            };
            own.iter().filter_map(|one| values(&one)).collect::<BTreeSet<_>>().len() as f64
        };
        let parent = entity.expect.per.as_deref().and_then(|name| counted.entity(name));
        let asked: Vec<&str> = pattern.inputs.iter().map(String::as_str).collect();
        let (above, below): (Vec<&str>, Vec<&str>) =
            asked.into_iter().partition(|name| parent.is_some_and(|parent| parent.has_key_field(name)));
        let seen = &mut model.entities[number];
        let parents = combinations(&above);
        if parent.is_some_and(|parent| parent.identity().is_some_and(|id| above.contains(&id))) {
            seen.expect.average = Some(estimate::count(counted, entity) / parents.max(1.0));
        }
        let (mut names, mut before) = (above, parents.max(1.0));
        let mut values: Vec<(&str, f64)> = Vec::new();
        for name in below.into_iter().filter(|name| entity.identity() != Some(name)) {
            names.push(name);
            let together = combinations(&names).max(1.0);
            values.push((name, (together / before).round().max(1.0)));
            before = together;
        }
        // All of them together select exactly what there is.
        let others: f64 = values.iter().skip(1).map(|(_, number)| number).product();
        if let Some((_, first)) = values.first_mut() {
            *first = (before / (parents.max(1.0) * others)).round().max(1.0);
        }
        for own in &mut seen.attributes {
            let number = values.iter().find(|(name, _)| *name == own.name);
            own.values = number.map(|(_, number)| *number as u64).or(own.values);
        }
    }
    model
}

/// Returns whether the calls of a pattern are for all keys of its first request, and find items of each of its lists there: the mean over all keys, which
/// a plan states, is that of these calls.
pub fn asks_for_all(pattern: &Pattern, plan: &Plan<'_>, all: &[Known<'_>]) -> bool {
    let is_tested = |requirement: &Requirement| matches!(requirement, Requirement::Condition(_));
    let is_chosen = plan.steps.first().is_some_and(|step| step.wasteful_requirements().any(is_tested));
    let keys = asked(pattern, all);
    let has_each_key = |entity: &Entity| {
        let own = all.iter().filter(|one| one.entity.name == entity.name);
        own.filter_map(|one| inputs_of(pattern, one)).collect::<BTreeSet<_>>().len() >= keys.len()
    };
    let lists = all.iter().map(|one| one.entity).filter(|entity| {
        pattern.via.is_empty()
            && pattern.targets.iter().any(|target| target.many && target.entity == entity.name)
    });
    let lists: BTreeMap<&str, &Entity> = lists.map(|entity| (entity.name.as_str(), entity)).collect();
    !is_chosen && lists.into_values().all(has_each_key)
}
