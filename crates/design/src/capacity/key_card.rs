//! One card for each partition key of the table and its indexes: how many values it has, how evenly they are used, what is stored under one of
//! them, and a verdict.

use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::collection::{self, MAX_COLLECTION_BYTES};
use crate::capacity::estimate::{self, ItemCount};
use crate::capacity::heat::{self, Heat, MAX_READS, MAX_WRITES};
use crate::capacity::{key_values, shards, size};
use crate::formatting::{format_bytes, format_number};
use crate::keys::key_mapping::KeyMapping;
use crate::keys::keyspace::Keyspace;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model};
use crate::plan::plans;
use crate::template::{Format, Part, SHARD, Template};

/// Up to this many values are few; 200 countries are.
const FEW: f64 = 300.0;
/// Up to this many values, a partition key of the table is hopeless.
const VERY_FEW: f64 = 20.0;
/// From this many values on, a partition key is excellent.
const MANY: f64 = 1e6;
/// From this share on, one value takes too much of the traffic.
pub const SKEWED: f64 = 0.3;
/// An entity of up to this many items is small wherever it is.
const SMALL: f64 = 10_000.0;

/// The verdict on a partition key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Millions of values, evenly used.
    Excellent,
    /// Enough for its traffic and its data.
    Good,
    /// Too few values, or one of them takes too much.
    Bad,
    /// It does not scale at all.
    Terrible,
}

impl Verdict {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Excellent => "excellent",
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Terrible => "terrible",
        }
    }
}

/// What is known about the partition key of an entity in the table or an index.
#[derive(Clone, Debug)]
pub struct KeyCard<'m> {
    /// The key.
    pub mapping: KeyMapping<'m>,
    /// The number of values; `None` if it is not bounded.
    pub values: Option<Estimate>,
    /// The share of the requests that goes to the hottest value.
    pub share: Estimate,
    /// The items under one value.
    pub items: ItemCount,
    /// The average bytes under one value.
    pub bytes: Estimate,
    /// The load of the hottest value.
    pub heat: Heat,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for it.
    pub reason: String,
}

/// Returns a card for every entity in the table and in each index.
pub fn cards(model: &Model) -> Vec<KeyCard<'_>> {
    let keys = Keyspace::new(model);
    let heats = heat::heat(model, &plans(&keys));
    let heat_of = |mapping: &KeyMapping<'_>| {
        let key = (mapping.location.name().to_owned(), mapping.entity.name.clone());
        heats.get(&key).copied().unwrap_or_default()
    };
    let local = |mapping: &&KeyMapping<'_>| mapping.location.index.is_some_and(|index| index.local);
    keys.all_mappings()
        .filter(|mapping| !local(mapping))
        .map(|mapping| card(model, mapping.clone(), heat_of(mapping)))
        .collect()
}

fn card<'m>(model: &'m Model, mapping: KeyMapping<'m>, heat: Heat) -> KeyCard<'m> {
    let shards = shards::in_use(model, &mapping);
    let items = key_values::items(model, &mapping, shards);
    let values = key_values::number(model, &mapping, shards);
    let (verdict, reason) = verdict(model, &mapping, values, &heat);
    KeyCard {
        values,
        share: heat::share(model, &mapping).likely,
        items,
        bytes: items.average() * size::entry(model, &mapping),
        heat,
        verdict,
        reason,
        mapping,
    }
}

/// The verdict on a partition key, and its reason. It agrees with the findings of the check.
fn verdict(
    model: &Model,
    mapping: &KeyMapping<'_>,
    values: Option<Estimate>,
    heat: &Heat,
) -> (Verdict, String) {
    let in_index = mapping.location.index.is_some();
    let cool = has_rates(model, mapping.entity) && is_cool(heat);
    let sharded = is_sharded(model, mapping);
    if heat.is_hot() {
        let verdict = if heat.is_proven() { Verdict::Terrible } else { Verdict::Bad };
        let loads = format!("{} writes and {} reads", format_number(heat.writes), format_number(heat.reads));
        return (verdict, format!("its hottest value takes {loads} a second{}", heat.basis().mark()));
    }
    if is_time(mapping) {
        return match cool || sharded {
            true => (
                Verdict::Good,
                "the time: the newest value takes all writes, which are few or sharded".to_owned(),
            ),
            false => (Verdict::Bad, "the time: the newest value takes all writes".to_owned()),
        };
    }
    if let Some(few) = few_values(model, mapping).filter(|_| !is_exempt(model, mapping)) {
        let full = collection::at_the_fullest_key(model, mapping);
        let crowded = full.value > MAX_COLLECTION_BYTES;
        let fits = mapping.is_sparse()
            || (in_index && cool && !crowded && !is_boolean(mapping))
            || (sharded && (cool || !in_index));
        let number = few.text("value");
        if fits {
            return (Verdict::Good, format!("{number}, enough for its traffic and its data"));
        }
        let verdict = if is_hopeless(few) { Verdict::Terrible } else { Verdict::Bad };
        let size =
            if crowded { format!(", {} under one of them", format_bytes(full.value)) } else { String::new() };
        return (verdict, format!("only {number}{size}"));
    }
    if let Some((_, top)) =
        skew(model, mapping).filter(|_| !(in_index && cool && !is_crowded(model, mapping)))
    {
        return (Verdict::Bad, format!("one value takes {:.0} %", top * 100.0));
    }
    match values {
        None => (Verdict::Excellent, "as many values as there are items".to_owned()),
        Some(values) if values.value >= MANY => (Verdict::Excellent, values.text("value")),
        Some(values) => {
            (Verdict::Good, format!("{}, enough for its traffic and its data", values.text("value")))
        }
    }
}

/// Returns whether few values are no fault: the entity is small, a value belongs to one item, or the collection is a single item.
pub fn is_exempt(model: &Model, mapping: &KeyMapping<'_>) -> bool {
    let entity = mapping.entity;
    let own = entity.identity().is_some_and(|id| mapping.partition.has_field(id));
    let constant_sort = mapping.sort.as_ref().is_none_or(Template::is_constant);
    let is_one =
        few_values(model, mapping).is_some_and(|values| values.value <= shards::in_use(model, mapping).value);
    own || is_small(model, entity) || (is_one && constant_sort)
}

/// Returns whether a partition key of the table with this many values does not scale at all. An assumption alone does not show it.
pub fn is_hopeless(values: Estimate) -> bool {
    values.value <= VERY_FEW && !values.basis.is_assumed()
}

/// Returns whether an entity has so few items that nothing goes wrong wherever they are.
pub fn is_small(model: &Model, entity: &Entity) -> bool {
    let all = estimate::total(model, entity);
    !all.basis.is_assumed() && all.value <= SMALL
}

/// Returns whether a load is far below the limits of a partition.
pub fn is_cool(heat: &Heat) -> bool {
    heat.writes <= MAX_WRITES / 2.0 && heat.reads <= MAX_READS / 2.0
}

/// Returns whether one partition key holds more than a partition does, now or after a year of the declared writes.
pub fn is_crowded(model: &Model, mapping: &KeyMapping<'_>) -> bool {
    collection::at_the_fullest_key(model, mapping).value > MAX_COLLECTION_BYTES
}

/// Returns whether every write of the entity has a rate.
fn has_rates(model: &Model, entity: &Entity) -> bool {
    let concerns =
        |write: &&crate::model::Write| write.actions.iter().any(|action| action.entity == entity.name);
    let mut writes = model.writes.iter().filter(concerns).peekable();
    writes.peek().is_some() && writes.all(|write| write.rps.is_some())
}

/// Returns the attribute of a partition key that has no other and no shards, and the share of its most frequent value, if it is large. A single item
/// under each value cannot be spread.
pub fn skew<'a>(model: &Model, mapping: &'a KeyMapping<'_>) -> Option<(&'a str, f64)> {
    let mut fields = mapping.partition.fields().filter(|name| *name != SHARD);
    let (field, rest) = (fields.next()?, fields.next());
    let top = mapping.entity.attribute(field)?.top?;
    let is_spread = || estimate::items_at(model, mapping, &[field.to_owned()]).max > 1.0;
    (rest.is_none() && !is_sharded(model, mapping) && top >= SKEWED && is_spread()).then_some((field, top))
}

/// Returns whether the items of one logical partition key are in several shards.
pub fn is_sharded(model: &Model, mapping: &KeyMapping<'_>) -> bool {
    shards::in_use(model, mapping).value > 1.0
}

/// Returns whether only the time (and the shard) varies.
pub fn is_time(mapping: &KeyMapping<'_>) -> bool {
    let mut found = false;
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        let time = mapping.entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time());
        if name != SHARD && !time && !matches!(format, Format::Bucket(_)) {
            return false;
        }
        found |= name != SHARD;
    }
    found
}

/// Returns whether the partition key is a single boolean.
pub fn is_boolean(mapping: &KeyMapping<'_>) -> bool {
    let mut fields = mapping.partition.fields().filter(|name| *name != SHARD);
    let boolean = |name: &str| mapping.entity.attribute(name).is_some_and(|a| a.kind == ValueType::Bool);
    fields.next().is_some_and(boolean) && fields.next().is_none() && !mapping.is_sparse()
}

/// Returns the number of partition keys, if small: a product of types and declarations, not of other entities' counts.
pub fn few_values(model: &Model, mapping: &KeyMapping<'_>) -> Option<Estimate> {
    let mut values = shards::in_use(model, mapping);
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        if name == SHARD {
            continue;
        }
        let field = key_values::left_by_when(mapping, name, *format);
        values = values * field.or_else(|| estimate::own_distinct(mapping.entity.attribute(name)?))?;
    }
    (values.value <= FEW).then_some(values)
}

/// Returns what a card rests on: the weakest basis of its figures.
pub fn basis(card: &KeyCard<'_>) -> Basis {
    let values = card.values.map_or(Basis::Derived, |values| values.basis);
    values.and(card.share.basis).and(card.items.basis).and(card.bytes.basis).and(card.heat.basis())
}
