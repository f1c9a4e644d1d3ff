//! The figures of a plan beside those that the engine measures, over items whose numbers and sizes are those that the model declares:
//!
//! - a call takes exactly as many requests as the plan says, unless items are followed or time buckets are read in turn;
//! - no call reads more items or pages than the plan's maximum, where that is not assumed;
//! - the mean over all calls is that of the plan, where that is not assumed, within a unit for each request; and no more than that where the caller
//!   stops early or bounds a range.

use super::{Trial, promised};
use partita_design::audit::recognise;
use partita_design::capacity::estimate;
use partita_design::generate::Generator;
use partita_design::item::{Attributes, Item, attributes, item_size};
use partita_design::model::Pattern;
use partita_design::plan::afterwards::Afterwards;
use partita_design::plan::trial::{Call, Taken, calls, known};
use partita_design::plan::{Operation, Plan, SortCondition, Step};
use partita_design::template::SHARD;
use partita_design::{Model, Source, read};
use std::collections::{BTreeMap, BTreeSet};

/// How much the mean of a derived figure may differ: values are distributed at random.
const CHANCE: f64 = 0.35;

/// Compares the figures of all patterns of a model; returns how many steps were compared.
pub fn check(text: &str, seed: u64) -> usize {
    let Ok(mut model) = read(&Source::new("figures", text)) else { return 0 };
    let items = items(&model, seed);
    declare(&mut model, &items);
    let trial = Trial::with(&model, items);
    let context = format!("seed {seed}\n{text}");
    promised(&model).iter().map(|(pattern, plan)| compare(&trial, pattern, plan, &context)).sum()
}

/// As many items as the model declares, and then fewer for some parents.
fn items(model: &Model, seed: u64) -> Vec<Item> {
    let total: f64 = model.entities.iter().map(|entity| estimate::count(model, entity)).sum();
    let mut kept: BTreeMap<Vec<Option<String>>, Item> = BTreeMap::new();
    let mut first_of = BTreeMap::new();
    for (number, item) in Generator::new(model, seed, total as u64).items().enumerate() {
        let texts = attributes(&item);
        let entity = recognise(model, &texts).unwrap();
        let parent = texts["parentId"].clone();
        let generosity = 1 + parent.bytes().map(usize::from).sum::<usize>() % 4;
        let is_first = first_of.insert((entity.name.clone(), parent), ()).is_none();
        if entity.expect.per.is_none() || is_first || number % 4 < generosity {
            kept.insert(model.table.keys.iter().map(|name| item.get(name)?.to_text()).collect(), item);
        }
    }
    kept.into_values().collect()
}

/// Declares the numbers and sizes that the items have.
fn declare(model: &mut Model, items: &[Item]) {
    let known: Vec<(String, Attributes, usize)> = items
        .iter()
        .map(|item| {
            let texts = attributes(item);
            (recognise(model, &texts).unwrap().name.clone(), texts, item_size(item))
        })
        .collect();
    let indexes = model.indexes.clone();
    for entity in &mut model.entities {
        let own: Vec<_> = known.iter().filter(|(name, ..)| *name == entity.name).collect();
        let numbers = |attribute: &str| -> BTreeMap<String, u64> {
            let mut numbers = BTreeMap::new();
            let values = own.iter().filter_map(|(_, texts, _)| texts.get(attribute));
            values.for_each(|value| *numbers.entry(value.clone()).or_default() += 1);
            numbers
        };
        let of_parents = numbers("parentId");
        match entity.expect.per {
            None => entity.expect.count = Some(own.len() as u64),
            Some(_) => {
                entity.expect.average = Some(own.len() as f64 / of_parents.len() as f64);
                entity.expect.max = of_parents.values().max().copied();
            }
        }
        let bytes: usize = own.iter().map(|(.., size)| size).sum();
        entity.expect.bytes = Some((bytes / own.len()) as u64);
        for attribute in
            entity.attributes.iter_mut().filter(|one| ["status", "kind", "day"].contains(&one.name.as_str()))
        {
            let numbers = numbers(&attribute.name);
            attribute.values = Some(numbers.len() as u64);
            attribute.top = Some(*numbers.values().max().unwrap() as f64 / own.len() as f64);
        }
        for index_key in &mut entity.indexes {
            let keys = &indexes.iter().find(|index| index.name == index_key.index).unwrap().keys;
            let inside = own.iter().filter(|(_, texts, _)| keys.iter().all(|key| texts.contains_key(key)));
            index_key.count = Some(inside.count() as u64);
        }
    }
}

fn compare<'m>(trial: &Trial<'m>, pattern: &Pattern, plan: &Plan<'m>, context: &str) -> usize {
    // One call for each key: the mean is that of all keys, not of the items under them.
    let mut keys = BTreeSet::new();
    let is_assumed = plan.basis(trial.model).is_assumed();
    let number = if is_assumed { 4 } else { usize::MAX };
    let mut calls = calls(pattern, &known(trial.model, &trial.items), number);
    let is_bounded = matches!(plan.steps[0].sort, SortCondition::Between { .. });
    let bounds = |call: &Call| call.range.clone().filter(|_| is_bounded);
    calls.retain(|call| keys.insert((known_in_keys(&plan.steps[0], call), bounds(call))));
    let taken: Vec<Vec<Taken>> = calls.iter().map(|call| trial.answer(pattern, plan, call).steps).collect();
    for (number, step) in plan.steps.iter().enumerate() {
        let own: Vec<Taken> = taken.iter().map(|steps| steps[number]).collect();
        let context = format!(
            "{context}\n{} step {number}: {} {} {:?} {:?} {:?}\n{} requests {:?}, {:?}, {} bytes, at most {}, {} units",
            pattern.name,
            step.operation.name(),
            step.location.name(),
            step.clauses(),
            step.filter,
            step.afterwards,
            step.fan_out,
            step.fan_out_basis,
            step.items,
            step.bytes,
            step.max_bytes,
            step.units()
        );
        own.iter().for_each(|taken| holds_for_each(trial.model, step, taken, &context));
        if !own.is_empty() {
            let is_most = plan.steps[..number].iter().any(|before| !before.filter.is_empty());
            holds_on_average(trial.model, (pattern, is_most), step, &own, &context);
        }
    }
    if calls.is_empty() { 0 } else { plan.steps.len() }
}

/// The values of a call that the key of a step contains.
fn known_in_keys(step: &Step<'_>, call: &Call) -> Attributes {
    let clauses = step.clauses();
    let is_in_key = |name: &String| {
        let shard = step.location.mapping(step.targets[0]).and_then(|mapping| mapping.shard);
        let by =
            shard.is_some_and(|shard| step.partition.has_field(SHARD) && shard.by.as_ref() == Some(name));
        by || step.partition.has_field(name) || clauses.iter().any(|(_, clause)| clause.uses(name))
    };
    call.values
        .iter()
        .filter(|(name, _)| is_in_key(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn is_in_turn(step: &Step<'_>) -> bool {
    step.afterwards.iter().any(|work| matches!(work, Afterwards::InTurn { .. }))
}

/// What holds for every single call.
fn holds_for_each(model: &Model, step: &Step<'_>, taken: &Taken, context: &str) {
    let is_own = step.follow.is_none() && step.operation == Operation::Query;
    if is_own && !step.fan_out_basis.is_assumed() {
        let is_right = match is_in_turn(step) {
            true => taken.requests as f64 <= step.fan_out,
            false => taken.requests as f64 == step.fan_out,
        };
        assert!(is_right, "{taken:?}: other requests than foretold\n{context}");
    }
    if !step.items.max_basis.is_assumed() {
        assert!(
            taken.read as f64 <= step.items.max + 0.001,
            "{taken:?}: more items than foretold\n{context}"
        );
    }
    if is_own && !step.items.max_basis.is_assumed() && !step.basis(model).is_assumed() && !is_in_turn(step) {
        assert!(taken.pages as f64 <= step.pages(), "{taken:?}: more pages than foretold\n{context}");
    }
}

/// What holds for the mean of all calls.
fn holds_on_average(
    model: &Model,
    (pattern, is_most): (&Pattern, bool),
    step: &Step<'_>,
    taken: &[Taken],
    context: &str,
) {
    if step.basis(model).is_assumed() {
        return;
    }
    let mean = |figure: fn(&Taken) -> f64| taken.iter().map(figure).sum::<f64>() / taken.len() as f64;
    let (read, units, pages) =
        (mean(|taken| taken.read as f64), mean(|taken| taken.units), mean(|taken| taken.pages as f64));
    let stops = |work: &Afterwards| {
        matches!(work, Afterwards::Continue(_) | Afterwards::InTurn { .. } | Afterwards::SendOnce)
    };
    let is_most = is_most
        || pattern.range.is_some()
        || pattern.limit.is_some()
        || step.follow.is_some()
        || step.afterwards.iter().any(stops);
    let unit = if step.strong { 1.0 } else { 0.5 };
    let rounding = if step.operation == Operation::BatchGet {
        read.max(step.items.average)
    } else {
        pages.max(step.fan_out)
    };
    for (what, foretold, measured, least) in
        [("items", step.items.average, read, 1.0), ("units", step.units(), units, unit * rounding)]
    {
        let difference = measured - foretold;
        let allowed = least + CHANCE * foretold;
        assert!(difference <= allowed, "{measured} {what}, more than {foretold}\n{context}");
        assert!(is_most || -difference <= allowed, "{measured} {what}, less than {foretold}\n{context}");
    }
}
