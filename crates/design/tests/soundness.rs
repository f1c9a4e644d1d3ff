//! The planner is sound: on generated items, the planned request of every pattern finds exactly the items of the pattern, in its order, and
//! nothing else unless the plan says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Model;
use partita_design::audit::recognise;
use partita_design::generate::Generator;
use partita_design::item::{Attributes, attributes};
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::condition::Condition;
use partita_design::model::{Entity, Pattern};
use partita_design::plan::{Operation, SortCondition, Step, plan};
use partita_design::template::{SHARD, Template};

struct Stored<'m> {
    entity: &'m Entity,
    texts: Attributes,
}

fn stored<'m>(model: &'m Model) -> Vec<Stored<'m>> {
    let items = Generator::new(model, 11, 300);
    let known = |item| {
        let texts = attributes(&item);
        recognise(model, &texts).map(|entity| Stored { entity, texts })
    };
    items.items().filter_map(known).collect()
}

/// Whether an item belongs to the result of the pattern for a caller that knows the attributes of `caller`.
fn wanted(pattern: &Pattern, caller: &Stored<'_>, one: &Stored<'_>) -> bool {
    let same = |input: &String| {
        one.entity.attribute(input).is_none() || one.texts.get(input) == caller.texts.get(input)
    };
    let concerned =
        |part: &&Condition| part.attributes().iter().any(|name| one.entity.attribute(name).is_some());
    pattern.inputs.iter().all(same)
        && pattern.filter.conjuncts().into_iter().filter(concerned).all(|part| part.holds(&one.texts))
}

/// The conditions of a request with the values that the caller knows.
fn filled(step: &Step<'_>, caller: &Stored<'_>) -> Vec<(usize, SortCondition)> {
    let fill = |template: &Template| Template::text(&template.fill(&caller.texts).unwrap());
    let one = |sort| match sort {
        SortCondition::Equals(template) => SortCondition::Equals(fill(&template)),
        // A range over everything.
        SortCondition::BeginsWith(template) | SortCondition::Between { prefix: template, .. } => {
            SortCondition::BeginsWith(fill(&template))
        }
        other => other,
    };
    step.clauses().into_iter().map(|(position, sort)| (position, one(sort))).collect()
}

/// Whether a request with these conditions returns the item.
fn returned(names: &[String], conditions: &[(usize, SortCondition)], one: &Stored<'_>) -> bool {
    names.iter().all(|name| one.texts.contains_key(name))
        && conditions.iter().all(|(position, sort)| {
            let key = one.texts[&names[*position]].as_str();
            match sort {
                SortCondition::Equals(text) => key == text.prefix(),
                SortCondition::BeginsWith(text) => key.starts_with(text.prefix()),
                SortCondition::Range { from, to } => key >= from.as_str() && key <= to.as_str(),
                SortCondition::Any | SortCondition::Between { .. } => true,
            }
        })
}

fn check_step(model: &Model, pattern: &Pattern, step: &Step<'_>, caller: &Stored<'_>, all: &[Stored<'_>]) {
    let context = format!("{} {} {:?}", model.table.name, pattern.name, step.clauses());
    let target = |one: &Stored<'_>| step.targets.iter().any(|entity| entity.name == one.entity.name);
    let keys = |one: &Stored<'_>| -> Vec<String> {
        model.table.keys.iter().map(|key| one.texts[key].clone()).collect()
    };
    let (names, conditions) = (step.location.key_names(model), filled(step, caller));
    let found: Vec<&Stored<'_>> = all.iter().filter(|one| returned(names, &conditions, one)).collect();
    let kept: Vec<_> =
        found.iter().filter(|one| target(one) && wanted(pattern, caller, one)).map(|one| keys(one)).collect();
    let expected: Vec<_> =
        all.iter().filter(|one| target(one) && wanted(pattern, caller, one)).map(keys).collect();
    assert_eq!(kept, expected, "{context}");
    if step.filter.is_empty() && step.operation == Operation::Query {
        let odd = found.iter().find(|one| target(one) && !wanted(pattern, caller, one));
        assert!(odd.is_none(), "{context}: {:?} is returned without a filter", odd.map(|one| keys(one)));
    }
    if step.extras.is_empty() {
        let odd = found.iter().find(|one| !target(one));
        assert!(odd.is_none(), "{context}: {:?} is returned as well", odd.map(|one| keys(one)));
    }
    check_order(model, pattern, step, found, &context);
}

/// Checks that items sorted by their sort keys are sorted by the attribute of the order.
fn check_order(
    model: &Model,
    pattern: &Pattern,
    step: &Step<'_>,
    mut found: Vec<&Stored<'_>>,
    context: &str,
) {
    let Some(order) = &pattern.order else { return };
    let (partition, sort) = step.location.halves(model);
    let key = |one: &Stored<'_>| -> Vec<(u64, String)> {
        let part = |(position, name): (usize, &String)| {
            let text = one.texts[name].clone();
            let number = step.location.key_is_number(model, partition.len() + position);
            if number { (text.parse::<f64>().unwrap() as u64, String::new()) } else { (0, text) }
        };
        sort.iter().enumerate().map(part).collect()
    };
    found.sort_by_key(|one| key(one));
    for entity in &step.targets {
        let Some(attribute) = entity.attribute(&order.by) else { continue };
        let own = found.iter().filter(|one| one.entity.name == entity.name);
        let values: Vec<&String> = own.filter_map(|one| one.texts.get(&order.by)).collect();
        let ordered = |pair: &[&String]| {
            if attribute.kind.is_number() {
                pair[0].parse::<f64>().unwrap() <= pair[1].parse::<f64>().unwrap()
            } else {
                pair[0] <= pair[1]
            }
        };
        // A time-based identifier sorts by time only if items are created in order of time.
        let direct = step
            .location
            .mapping(entity)
            .is_some_and(|mapping| mapping.fields().any(|field| field == order.by));
        assert!(!direct || values.windows(2).all(ordered), "{context}: {values:?}");
    }
}

#[test]
fn planned_requests_find_exactly_the_items_of_the_pattern() {
    let (mut models, mut steps) = (0, 0);
    for folder in ["models", "crates/design/tests/good", "crates/design/tests/planted"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            models += 1;
            let model = support::model(&std::fs::read_to_string(&path).unwrap());
            let all = stored(&model);
            let keys = Keyspace::new(&model);
            for pattern in &model.patterns {
                let plan =
                    plan(&keys, pattern).unwrap_or_else(|_| panic!("{} {}", path.display(), pattern.name));
                // Shards and time buckets take several requests.
                let whole = |step: &&Step<'_>| {
                    step.fan_out == 1.0
                        && step.operation != Operation::BatchGet
                        && !step.partition.has_field(SHARD)
                };
                for step in plan.steps.iter().take(1).filter(whole) {
                    let callers = all.iter().filter(|one| one.entity.name == step.targets[0].name);
                    for caller in callers.filter(|one| wanted(pattern, one, one)).take(4) {
                        check_step(&model, pattern, step, caller, &all);
                        steps += 1;
                    }
                }
            }
        }
    }
    assert!(models > 50 && steps > 600, "{models} models, {steps} steps");
}
