//! What a pattern means: its items among all items, found without keys.

use super::call::{Call, Known, Sortable};
use crate::item::Attributes;
use crate::keys::keyspace::Keyspace;
use crate::model::limits::End;
use crate::model::{Attribute, Entity, Model, Order, Pattern, Target};
use crate::plan::Planner;
use crate::plan::bounds::is_start_of_time;
use crate::plan::follow::{Link, Stage};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What a call must return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The primary keys of all items that the pattern means, in any order.
    pub keys: BTreeSet<Vec<String>>,
    /// How many of them are returned.
    pub count: usize,
    /// The values of the attribute of the order, in the order in which they are returned; `None` if there is no order.
    pub order: Option<Vec<String>>,
}

/// Returns what a call of a pattern must return from these items.
pub fn expected(model: &Model, pattern: &Pattern, call: &Call, all: &[Known<'_>]) -> Expected {
    if !pattern.via.is_empty() {
        return followed(model, pattern, call, all);
    }
    let found = meant(pattern, &pattern.inputs, call, all);
    let limit = most(pattern);
    let single = pattern.targets.iter().filter(|target| !target.many).count();
    let most = if pattern.targets.len() > 1 { limit.saturating_add(single) } else { limit };
    let order = pattern.order.as_ref().map(|order| {
        let mut listed: Vec<&Known<'_>> = found.clone();
        listed.retain(|one| is_ordered(pattern, one.entity));
        ordered(&mut listed, order, limit)
    });
    let keys: BTreeSet<Vec<String>> = found.iter().map(|one| key(model, one)).collect();
    let count = keys.len().min(most);
    Expected { keys, count, order }
}

/// Returns whether items of an entity are in the order of a pattern: single ones beside a list are not.
pub(super) fn is_ordered(pattern: &Pattern, entity: &Entity) -> bool {
    let is_single = |target: &&Target| !target.many && target.entity == entity.name;
    !pattern.targets.iter().any(|target| target.many) || pattern.targets.iter().find(is_single).is_none()
}

/// The declared limit. A single item that is chosen by an order is the first.
fn most(pattern: &Pattern) -> usize {
    if pattern.order.is_some() && pattern.single_target().is_some_and(|target| !target.many) {
        return 1;
    }
    pattern.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// The primary key of an item.
fn key(model: &Model, one: &Known<'_>) -> Vec<String> {
    model.table.keys.iter().filter_map(|name| one.texts.get(name).cloned()).collect()
}

/// Sorts items by the attribute of an order, and returns its first values.
fn ordered(found: &mut [&Known<'_>], order: &Order, most: usize) -> Vec<String> {
    let by = |one: &Known<'_>| one.texts.get(&order.by).cloned();
    // Items without the attribute are the first.
    let key = |one: &Known<'_>| by(one).map(|text| Sortable::of(Some(one.entity), &order.by, &text));
    if order.descending {
        found.sort_by_cached_key(|one| Reverse(key(one)));
    } else {
        found.sort_by_cached_key(|one| key(one));
    }
    found.iter().filter_map(|one| by(one)).take(most).collect()
}

/// The items of the targets with the given inputs, in the range, that meet the condition.
fn meant<'a, 'm>(
    pattern: &Pattern,
    inputs: &[String],
    call: &Call,
    all: &'a [Known<'m>],
) -> Vec<&'a Known<'m>> {
    all.iter().filter(|one| is_asked_for(pattern, inputs, call, one)).collect()
}

/// Returns whether a call of a pattern that follows nothing means an item.
pub(crate) fn is_meant(pattern: &Pattern, call: &Call, one: &Known<'_>) -> bool {
    is_asked_for(pattern, &pattern.inputs, call, one)
}

fn is_asked_for(pattern: &Pattern, inputs: &[String], call: &Call, one: &Known<'_>) -> bool {
    // A condition on attributes that an entity does not have is about the other entities.
    let concerns = || pattern.filter.attributes().iter().any(|name| one.entity.attribute(name).is_some());
    pattern.targets.iter().any(|target| target.entity == one.entity.name)
        && has_inputs(one, inputs, &call.values)
        && is_in_range(one, pattern, call)
        && (!concerns() || one.meets(&pattern.filter))
}

fn has_inputs(one: &Known<'_>, inputs: &[String], values: &Attributes) -> bool {
    let own = inputs.iter().filter(|input| one.entity.attribute(input).is_some());
    own.into_iter().all(|input| one.texts.get(input) == values.get(input))
}

fn is_in_range(one: &Known<'_>, pattern: &Pattern, call: &Call) -> bool {
    let Some(bounds) = &pattern.range else { return true };
    let attribute = one.entity.attribute(&bounds.by);
    attribute.is_none_or(|attribute| is_within(attribute, &one.texts, call))
}

/// Returns whether the value of an attribute is in the range of a call, both ends included.
pub(super) fn is_within(attribute: &Attribute, texts: &Attributes, call: &Call) -> bool {
    let Some((from, to)) = &call.range else { return true };
    let from = attribute.limits.bound(from, End::Lower);
    let to = attribute.limits.bound(to, End::Upper);
    let value = texts.get(&attribute.name);
    let sortable = |text: &str| Sortable::of_kind(Some(attribute), text);
    // The start of a time includes all times that begin with it.
    let is_time = attribute.kind.is_time();
    let starts =
        |value: &str| is_time && value.starts_with(to.as_str()) && is_start_of_time(&to, value.len());
    let below = |value: &str| sortable(value) <= sortable(&to) || starts(value);
    value.is_some_and(|value| sortable(value) >= sortable(&from) && below(value))
}

/// What a call returns that follows relationships: the items on the way that the pattern names, and those that they lead to.
fn followed<'m>(model: &'m Model, pattern: &Pattern, call: &Call, all: &[Known<'m>]) -> Expected {
    let keys = Keyspace::new(model);
    let stages = Planner::new(&keys, pattern).stages().unwrap_or_default();
    let is_returned =
        |one: &&Known<'_>| pattern.targets.iter().any(|target| target.entity == one.entity.name);
    let mut found: Vec<Vec<&Known<'m>>> = Vec::new();
    for stage in &stages {
        found.push(reached(stage, found.last().map(Vec::as_slice), call, all));
    }
    let key = |one: &&Known<'_>| key(model, one);
    let keys: BTreeSet<Vec<String>> =
        found.iter().flatten().copied().filter(is_returned).map(|one| key(&one)).collect();
    let order = followed_order(pattern, &stages, &mut found);
    let limit = most(pattern);
    let limits_first = stages.first().is_some_and(|stage| stage.pattern.limit.is_some());
    // The first items in order lead to what is returned; without an order, any of them may be the first.
    if limits_first && stages[0].pattern.order.is_some() {
        found[0].truncate(limit);
        for number in 1..stages.len() {
            found[number] = reached(&stages[number], Some(&found[number - 1]), call, all);
        }
    }
    let last = stages.len().saturating_sub(1);
    let counted = found.iter().enumerate().flat_map(|(number, found)| {
        let is_limited = limits_first || number == last;
        let most = if is_limited { limit } else { usize::MAX };
        let of_each = pattern.targets.iter().map(move |target| {
            found
                .iter()
                .filter(|one| one.entity.name == target.entity)
                .map(key)
                .collect::<BTreeSet<_>>()
                .len()
        });
        of_each.map(move |count| count.min(most))
    });
    let count = counted.sum();
    Expected { keys, count, order }
}

/// The values of the order, if one returned stage alone has them.
fn followed_order<'m>(
    pattern: &Pattern,
    stages: &[Stage<'m>],
    found: &mut [Vec<&Known<'m>>],
) -> Option<Vec<String>> {
    let order = pattern.order.as_ref()?;
    let home = stages.iter().position(|stage| stage.pattern.order.is_some())?;
    let limit = if home + 1 == stages.len() || stages[0].pattern.limit.is_some() {
        most(pattern)
    } else {
        usize::MAX
    };
    let values = ordered(&mut found[home], order, limit);
    let returns = |stage: &Stage<'_>| {
        let is_target = |entity: &&Entity| pattern.targets.iter().any(|target| target.entity == entity.name);
        stage
            .entities
            .iter()
            .filter(|entity| is_target(entity))
            .any(|entity| entity.attribute(&order.by).is_some())
    };
    let returned: Vec<usize> = (0..stages.len()).filter(|number| returns(&stages[*number])).collect();
    (returned == [home]).then_some(values)
}

/// The items of a stage that an item of the stage before leads to.
fn reached<'a, 'm>(
    stage: &Stage<'m>,
    before: Option<&[&Known<'m>]>,
    call: &Call,
    all: &'a [Known<'m>],
) -> Vec<&'a Known<'m>> {
    let is_linked = |input: &&String| stage.links.iter().any(|link| link.to == **input);
    let own: Vec<String> = stage.pattern.inputs.iter().filter(|input| !is_linked(input)).cloned().collect();
    // An item without the value of a link leads nowhere.
    let values = |one: &Known<'_>, name: fn(&Link) -> &String, entity: &Entity| -> Option<Vec<String>> {
        let links = stage.links.iter().filter(|link| entity.attribute(&link.to).is_some());
        links.map(|link| one.texts.get(name(link)).cloned()).collect()
    };
    let mut found = meant(&stage.pattern, &own, call, all);
    if let Some(before) = before {
        let leads = |entity: &'m Entity| -> BTreeSet<Vec<String>> {
            before.iter().filter_map(|one| values(one, |link| &link.from, entity)).collect()
        };
        let leads: BTreeMap<&str, _> =
            stage.entities.iter().map(|entity| (entity.name.as_str(), leads(entity))).collect();
        found.retain(|one| {
            let own = values(one, |link| &link.to, one.entity);
            leads.get(one.entity.name.as_str()).zip(own).is_some_and(|(leads, own)| leads.contains(&own))
        });
    }
    found
}
