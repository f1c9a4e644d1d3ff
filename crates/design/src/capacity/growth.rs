//! Growth: the sizes and the bill of the next twelve months, and the month in which a limit is first exceeded.
//!
//! What a model expects in a year is reached month by month in equal steps. What it does not declare stays as it is.

use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::collection::{self, MAX_COLLECTION_BYTES};
use crate::capacity::cost::{Cost, cost};
use crate::capacity::estimate::{self, PAGE_BYTES};
use crate::capacity::heat::{self, Heat};
use crate::capacity::prices::Prices;
use crate::capacity::size;
use crate::formatting::{format_bytes, format_number};
use crate::keys::keyspace::Keyspace;
use crate::model::{Expectations, Model, Pattern};
use crate::plan::{Operation, Step, plans};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// How many months are computed.
pub const MONTHS: u32 = 12;
/// The largest item.
pub const MAX_ITEM_BYTES: f64 = 400.0 * 1024.0;

/// The model after a number of months.
#[derive(Clone, Debug)]
pub struct Month {
    /// The number of months from now.
    pub month: u32,
    /// The number of all items.
    pub items: Estimate,
    /// Loads, sizes and cost.
    pub cost: Cost,
}

/// A limit that growth exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// An item of 400 KB.
    Item,
    /// An item collection of 10 GB in a table with a local index.
    Collection,
    /// 1,000 writes or 3,000 reads a second of one partition key.
    Heat,
    /// 10 GB under one partition key, which one partition does not hold.
    Partition,
    /// A page of 1 MB.
    Page,
}

impl Limit {
    /// Returns whether requests fail beyond it.
    pub fn is_hard(self) -> bool {
        matches!(self, Limit::Item | Limit::Collection | Limit::Heat)
    }

    /// Returns a short name.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Item => "400 KB item",
            Limit::Collection => "10 GB collection",
            Limit::Heat => "hot key",
            Limit::Partition => "10 GB partition key",
            Limit::Page => "1 MB page",
        }
    }
}

/// A limit that is exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Excess {
    /// The limit.
    pub limit: Limit,
    /// What exceeds it: `pattern.ordersOfUser`.
    pub subject: String,
    /// By how much.
    pub text: String,
    /// What the figure rests on.
    pub basis: Basis,
    /// Where the subject is declared.
    pub span: Span,
}

/// A limit, and the month in which it is first exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Break {
    /// The number of months from now; 0 is now.
    pub month: u32,
    /// What is exceeded in that month.
    pub excess: Excess,
}

/// Returns whether a model declares what it expects in a year.
pub fn is_declared(model: &Model) -> bool {
    let grows = |expect: &Expectations| !expect.in_a_year.is_empty();
    model.entities.iter().any(|entity| grows(&entity.expect))
        || model.patterns.iter().any(|pattern| pattern.rps_in_a_year.is_some())
        || model.writes.iter().any(|write| write.rps_in_a_year.is_some())
}

/// Returns the model as it is expected after a number of months.
pub fn model_after(model: &Model, month: u32) -> Model {
    let mut later = model.clone();
    let part = f64::from(month) / f64::from(MONTHS);
    let number = |now: &mut Option<f64>, then: Option<f64>| {
        if let (Some(now), Some(then)) = (now, then) {
            *now += (then - *now) * part;
        }
    };
    let whole = |now: &mut Option<u64>, then: Option<u64>| {
        if let (Some(now), Some(then)) = (now, then) {
            *now = (*now as f64 + (then as f64 - *now as f64) * part).round() as u64;
        }
    };
    for entity in &mut later.entities {
        let Expectations { count, average, max, bytes, max_bytes, in_a_year, .. } = &mut entity.expect;
        whole(count, in_a_year.count);
        number(average, in_a_year.average);
        whole(max, in_a_year.max);
        whole(bytes, in_a_year.bytes);
        whole(max_bytes, in_a_year.max_bytes);
    }
    for pattern in &mut later.patterns {
        number(&mut pattern.rps, pattern.rps_in_a_year);
    }
    for write in &mut later.writes {
        number(&mut write.rps, write.rps_in_a_year);
    }
    later
}

/// Returns sizes and cost now and after each of the next twelve months.
pub fn months(model: &Model, prices: &Prices) -> Vec<Month> {
    let one = |month: u32| {
        let later = model_after(model, month);
        let items = later.entities.iter().map(|entity| estimate::total(&later, entity)).sum();
        Month { month, items, cost: cost(&later, prices) }
    };
    (0..=MONTHS).map(one).collect()
}

/// Returns the limits that are exceeded within a year, each with the first month.
pub fn breaks(model: &Model) -> Vec<Break> {
    let (mut seen, mut breaks) = (BTreeSet::new(), Vec::new());
    for month in 0..=MONTHS {
        for excess in excesses(&model_after(model, month)) {
            if seen.insert((excess.limit, excess.subject.clone())) {
                breaks.push(Break { month, excess });
            }
        }
    }
    breaks
}

/// The limits that a model exceeds.
fn excesses(model: &Model) -> Vec<Excess> {
    let keys = Keyspace::new(model);
    let plans = plans(&keys);
    let mut excesses = Vec::new();
    excesses.extend(items(model));
    excesses.extend(collections(&keys));
    for pattern in &model.patterns {
        let Some(Ok(plan)) = plans.get(pattern.name.as_str()) else { continue };
        excesses.extend(plan.steps.iter().filter_map(|step| page(model, pattern, step)));
    }
    excesses.extend(hot_keys(&keys, &heat::heat(model, &plans)));
    excesses
}

fn items(model: &Model) -> impl Iterator<Item = Excess> {
    let large = |entity| (entity, size::largest_item(model, entity));
    let large = model.entities.iter().map(large).filter(|(_, size)| size.value > MAX_ITEM_BYTES);
    large.map(|(entity, size)| Excess {
        limit: Limit::Item,
        subject: entity.subject(),
        text: format!("an item of {}", format_bytes(size.value)),
        basis: size.basis,
        span: entity.span.clone(),
    })
}

/// Collections above 10 GB in a table with a local index, and partition keys that one partition does not hold.
fn collections(keys: &Keyspace<'_>) -> Vec<Excess> {
    let model = keys.model;
    let is_limited = model.indexes.iter().any(|index| index.local);
    let mut excesses = Vec::new();
    for entity in model.entities.iter().filter(|entity| is_limited && collection::accumulates(model, entity))
    {
        let largest = collection::largest(keys, entity);
        if largest.bytes.value > MAX_COLLECTION_BYTES {
            excesses.push(Excess {
                limit: Limit::Collection,
                subject: entity.subject(),
                text: format!("a collection of {} {}", largest.word(), format_bytes(largest.bytes.value)),
                basis: largest.bytes.basis,
                span: entity.span.clone(),
            });
        }
    }
    for mapping in
        keys.all_mappings().filter(|mapping| mapping.location.index.is_some_and(|index| !index.local))
    {
        let bytes = collection::at_the_fullest_key(model, mapping);
        if bytes.value > MAX_COLLECTION_BYTES && !bytes.basis.is_assumed() {
            excesses.push(Excess {
                limit: Limit::Partition,
                subject: mapping.entity.subject(),
                text: format!(
                    "{} under one key {} of {}",
                    format_bytes(bytes.value),
                    mapping.partition,
                    mapping.location.name()
                ),
                basis: bytes.basis,
                span: mapping.entity.span.clone(),
            });
        }
    }
    excesses
}

fn page(model: &Model, pattern: &Pattern, step: &Step<'_>) -> Option<Excess> {
    let (bytes, basis, word) = if step.items.max_basis.is_assumed() {
        (step.bytes, step.basis(model), "on average")
    } else {
        (step.max_bytes, step.basis(model).and(step.items.max_basis), "up to")
    };
    let bytes = bytes / step.fan_out.max(1.0);
    (step.operation == Operation::Query && bytes > PAGE_BYTES).then(|| Excess {
        limit: Limit::Page,
        subject: pattern.subject(),
        text: format!("a result of {word} {}", format_bytes(bytes)),
        basis,
        span: pattern.span.clone(),
    })
}

/// Keys that are too hot; entities with the same partition key share it.
fn hot_keys(keys: &Keyspace<'_>, heats: &BTreeMap<(String, String), Heat>) -> Vec<Excess> {
    let mut shared: BTreeMap<(&str, String), (Heat, String, Span)> = BTreeMap::new();
    for mapping in keys.all_mappings() {
        let key = (mapping.location.name().to_owned(), mapping.entity.name.clone());
        let Some(heat) = heats.get(&key) else { continue };
        let entity = mapping.entity;
        let first = || (Heat::default(), entity.subject(), entity.span.clone());
        shared
            .entry((mapping.location.name(), mapping.partition.to_string()))
            .or_insert_with(first)
            .0
            .add(heat);
    }
    let hot = shared.into_iter().filter(|(_, (heat, ..))| heat.is_hot());
    hot.map(|((location, key), (heat, subject, span))| Excess {
        limit: Limit::Heat,
        subject,
        text: format!(
            "{} write units and {} read units a second on one key {key} of {location}",
            format_number(heat.writes),
            format_number(heat.reads)
        ),
        basis: if heat.is_proven() { Basis::Derived } else { Basis::Assumed },
        span,
    })
    .collect()
}
