//! How one entity is reached in the table or an index: by a known partition key, and a sort key known up to the range or the order.

use super::held_parts::HeldParts;
use super::requirement::Requirement;
use super::shards::ReadShards;
use super::text_range::is_exact;
use super::{Obstacle, Planner, SortCondition, buckets};
use crate::capacity::basis::Basis;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::Entity;
use crate::model::condition::{Condition, Constant};
use crate::model::each_once::each_once;
use crate::template::{Format, Part, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

/// The number of time buckets that are read if the bounds are unknown.
const ASSUMED_BUCKETS: u64 = 2;

/// How one entity is reached in the table or an index.
#[derive(Clone, Debug)]
pub(super) struct Access<'m> {
    pub mapping: KeyMapping<'m>,
    pub partition: Template,
    pub sort: SortCondition,
    /// The known start of the sort key.
    pub prefix: Template,
    /// The whole sort key.
    pub sort_key: Template,
    /// The part of the known start that not all items of the entity in the partition have.
    pub narrowing: Template,
    /// The same with the fields whose values are fixed.
    pub narrowing_fields: Template,
    pub fan_out: u64,
    /// The time buckets that are read of each value of the rest of the partition key.
    pub buckets: u64,
    /// What the number of requests rests on: the number of time buckets is assumed if the bounds are not declared.
    pub fan_out_basis: Basis,
    /// Whether time buckets are read one after the other, until the limit is reached.
    pub in_turn: bool,
    /// The shards that are read.
    pub shards: ReadShards,
    /// What a filter requires.
    pub filter: Vec<Requirement>,
    /// What of it the key condition sees to already, but for texts that contain what follows them in the key or differ in case.
    pub confirmations: Vec<Requirement>,
    /// What concerns attributes that the index does not hold: the caller tests it.
    pub unfiltered: Vec<Requirement>,
    /// The fields that the key condition fixes.
    pub fixed: Vec<String>,
    /// The fields for each of whose values there is a request.
    pub alternatives: Alternatives,
    /// Whether the pattern asks for some values of a field and not for others, whose share nobody declares.
    pub is_selective: bool,
}

impl Access<'_> {
    /// Returns whether the key condition selects a part of a collection by time or by another range.
    pub fn is_bounded(&self) -> bool {
        let is_bucket = |part: &Part| matches!(part, Part::Field { format: Format::Bucket(_), .. });
        matches!(self.sort, SortCondition::Between { .. }) || self.partition.parts.iter().any(is_bucket)
    }

    /// Returns the fields for each of whose values there is a request, and the shards if they are known.
    pub fn alternatives_and_shards(&self) -> Alternatives {
        let numbers = Some(&self.shards.numbers).filter(|numbers| !numbers.is_empty());
        let shards = numbers.map(|numbers| (SHARD.to_owned(), numbers.clone()));
        self.alternatives.clone().into_iter().chain(shards).collect()
    }

    /// Returns all that is tested after the read, by a filter or by the caller.
    pub fn requirements(&self) -> impl Iterator<Item = &Requirement> {
        self.filter.iter().chain(&self.unfiltered)
    }
}

/// What the key condition leaves to be tested, as in [`Access`].
#[derive(Default)]
struct Remaining {
    filter: Vec<Requirement>,
    confirmations: Vec<Requirement>,
    unfiltered: Vec<Requirement>,
}

/// The partition keys that a pattern reads.
struct Partitions {
    /// Their number, without shards: time buckets.
    requests: u64,
    basis: Basis,
    /// Whether time buckets are read one after the other, until the limit is reached.
    in_turn: bool,
    /// The fields that are known.
    fixed: Vec<String>,
}

/// Fields and the values that requests take for them in turn.
pub(super) type Alternatives = BTreeMap<String, Vec<String>>;

impl<'m> Planner<'_, 'm> {
    /// How an entity is reached in the table or an index.
    pub(super) fn access(
        &self,
        location: TableOrIndex<'m>,
        entity: &'m Entity,
    ) -> Result<Access<'m>, Obstacle> {
        let mapping = self.usable(location, entity)?;
        let values = self.values(&mapping);
        let constant = |name: &str| match values.get(name).map(Vec::as_slice) {
            Some([one]) => Some(one.as_str().to_owned()),
            _ => None,
        };
        let known = |name: &str| self.is_input(name) || values.contains_key(name);
        let settled = |name: &str| self.is_input(name) || constant(name).is_some();
        let partitions = self.partition(&mapping, known)?;
        let (prefix, sort) = match &self.declared {
            Some(declared) => self.declared_sort(declared, &mapping, &known, &settled)?,
            None => self.sort(&mapping, &known, &settled, self.pattern.range.as_ref())?,
        };
        self.consistent(location)?;
        let fixed = fixed_fields(&partitions, &prefix, &sort);
        let narrowing = narrowing(&mapping, &prefix);
        let held = HeldParts::new(&mapping, &prefix, &sort);
        let Remaining { filter, unfiltered, confirmations } = self.remaining(&mapping, &held, &sort, &values);
        let known_parts: Vec<Part> = mapping.partition.parts.iter().chain(&prefix.parts).cloned().collect();
        let compared = known_parts.iter().chain(exact_template(&sort).into_iter().flat_map(|key| &key.parts));
        let alternatives = alternatives(&mapping, &values, &fixed, &compared.cloned().collect::<Vec<_>>());
        let shards = ReadShards::new(&mapping, &self.pattern.inputs, &values, &alternatives, &fixed);
        let each = alternatives.values().map(|values| values.len() as u64).chain([shards.requests]);
        let access = Access {
            partition: mapping.partition.substitute(constant),
            sort: match sort.template() {
                Some(template) => sort.with(template.substitute(constant)),
                None => sort,
            },
            sort_key: mapping.sort.as_ref().map(|key| key.substitute(constant)).unwrap_or_default(),
            narrowing: narrowing.substitute(constant),
            narrowing_fields: narrowing,
            prefix: prefix.substitute(constant),
            fan_out: each.fold(partitions.requests, u64::saturating_mul),
            fan_out_basis: partitions.basis,
            buckets: partitions.requests,
            in_turn: partitions.in_turn,
            shards,
            filter,
            confirmations,
            unfiltered,
            alternatives,
            is_selective: is_selective(&mapping, &values, &fixed),
            // All items of a time bucket are read, whichever of its times is asked for.
            fixed: fixed.into_iter().filter(|name| !is_bucket_only(name, &known_parts, entity)).collect(),
            mapping,
        };
        access.sendable()
    }

    /// The same access by a request that may read all that starts with the part of its sort key that narrows it.
    pub(super) fn opened(&self, access: Access<'m>) -> Access<'m> {
        if !matches!(access.sort, SortCondition::Equals(_) | SortCondition::BeginsWith(_)) {
            return access;
        }
        let (mapping, start) = (&access.mapping, &access.narrowing_fields);
        let sort = SortCondition::BeginsWith(start.clone());
        let held = HeldParts::new(mapping, start, &sort);
        let values = self.values(mapping);
        let Remaining { filter, unfiltered, confirmations } = self.remaining(mapping, &held, &sort, &values);
        Access { filter, unfiltered, confirmations, ..access }
    }

    /// How an entity is reached without a key: by a read of all that the table or an index holds.
    pub(super) fn access_without_key(
        &self,
        location: TableOrIndex<'m>,
        entity: &'m Entity,
    ) -> Result<Access<'m>, Obstacle> {
        let mapping = self.usable(location, entity)?;
        self.consistent(location)?;
        let held = HeldParts::none(entity);
        let Remaining { filter, unfiltered, .. } =
            self.remaining(&mapping, &held, &SortCondition::Any, &BTreeMap::new());
        Ok(Access {
            partition: Template::default(),
            sort: SortCondition::Any,
            prefix: Template::default(),
            sort_key: Template::default(),
            narrowing: Template::default(),
            narrowing_fields: Template::default(),
            fan_out: 1,
            buckets: 1,
            fan_out_basis: Basis::Declared,
            in_turn: false,
            shards: ReadShards::all(),
            filter,
            confirmations: Vec::new(),
            unfiltered,
            fixed: Vec::new(),
            alternatives: Alternatives::new(),
            is_selective: false,
            mapping,
        })
    }

    /// Checks that the table or an index can be read as consistently as the pattern asks.
    fn consistent(&self, location: TableOrIndex<'m>) -> Result<(), Obstacle> {
        if self.pattern.strong && !location.is_consistent() { Err(Obstacle::Consistency) } else { Ok(()) }
    }

    /// The keys of an entity in the table or an index, if the index holds all its items that the pattern asks for.
    fn usable(&self, location: TableOrIndex<'m>, entity: &'m Entity) -> Result<KeyMapping<'m>, Obstacle> {
        let mapping = self.keys.mapping(location, &entity.name).cloned().ok_or(Obstacle::Absent)?;
        if self.pattern.condition().implies(&mapping.when, entity) {
            return Ok(mapping);
        }
        Err(match self.concerns(&mapping) {
            true => {
                let values = self.values(&mapping);
                let known = |name: &str| self.is_input(name) || values.contains_key(name);
                let is_known = self.partition(&mapping, known).is_ok();
                Obstacle::Sparse { when: Box::new(mapping.when), is_known }
            }
            false => Obstacle::Absent,
        })
    }

    fn is_input(&self, name: &str) -> bool {
        self.pattern.inputs.iter().any(|input| input == name)
    }

    /// The values of the key's fields that the conditions of the pattern and the index leave, where they are few.
    fn values(&self, mapping: &KeyMapping<'m>) -> BTreeMap<String, Vec<Constant>> {
        let condition = self.pattern.filter.and(&mapping.when);
        let selecting = mapping.shard.and_then(|shard| shard.by.as_deref());
        let tested = mapping.fields().chain(selecting).filter(|name| condition.mentions(name));
        let own = tested.filter(|name| !self.is_input(name));
        let values = own.filter_map(|name| {
            // Items whose key has the field have the attribute; all of them are here only if it is required.
            mapping.entity.attribute(name)?;
            let is_optional = mapping.entity.may_lack(name);
            let present = if is_optional { Condition::default() } else { Condition::exists(name) };
            let values = condition.and(&present).values(name, mapping.entity)?;
            (!values.is_empty()).then(|| (name.to_owned(), values))
        });
        values.collect()
    }

    /// What the key condition leaves to a filter, and what it leaves to the caller, since an index has no other attributes than the projected
    /// ones.
    fn remaining(
        &self,
        mapping: &KeyMapping<'m>,
        held: &HeldParts<'m>,
        sort: &SortCondition,
        values: &BTreeMap<String, Vec<Constant>>,
    ) -> Remaining {
        let mut remaining = Remaining::default();
        let inputs = self.remaining_inputs(mapping, held);
        let parts = self.remaining_parts(mapping, held, values);
        let range = self.pattern.range.iter().map(|range| &range.by);
        let range = range.filter(|by| mapping.entity.attribute(by).is_some() && !is_exact(mapping, sort, by));
        let range = range.map(|by| (Requirement::Range(by.clone()), false));
        for (requirement, is_confirmation) in inputs.into_iter().chain(parts).chain(range) {
            let is_held = |name: &str| mapping.has_attribute(self.model, name);
            if !requirement.attributes().into_iter().all(is_held) {
                remaining.unfiltered.push(requirement);
                continue;
            }
            if is_confirmation {
                remaining.confirmations.push(requirement.clone());
            }
            remaining.filter.push(requirement);
        }
        remaining
    }

    /// The inputs that the key condition does not hold exactly, each with whether it holds them nearly.
    fn remaining_inputs(&self, mapping: &KeyMapping<'m>, held: &HeldParts<'m>) -> Vec<(Requirement, bool)> {
        let is_used = |name: &str| held.is_exact(name) || mapping.when.fixed(name).is_some();
        let inputs = self.pattern.inputs.iter();
        let inputs = inputs.filter(|input| !is_used(input) && mapping.entity.attribute(input).is_some());
        inputs.map(|input| (Requirement::Input(input.clone()), held.is_nearly_exact(input))).collect()
    }

    /// The parts of the condition that the index and the values in the key do not ensure, each with whether they nearly do.
    fn remaining_parts(
        &self,
        mapping: &KeyMapping<'m>,
        held: &HeldParts<'m>,
        values: &BTreeMap<String, Vec<Constant>>,
    ) -> Vec<(Requirement, bool)> {
        let entity = mapping.entity;
        let ensured = |is_held: &dyn Fn(&str) -> bool| {
            let listed = values.iter().filter(|(name, _)| is_held(name));
            let listed = listed.map(|(name, values)| Condition::among(name, values.clone()));
            mapping.when.and(&Condition::All(listed.collect()))
        };
        let exactly = ensured(&|name| held.is_exact(name));
        let nearly = ensured(&|name| held.is_nearly_exact(name));
        let parts = self.pattern.filter.conjuncts().into_iter().filter(|part| {
            let concerned = part.attributes().into_iter().any(|name| entity.attribute(name).is_some());
            concerned && !exactly.implies(part, entity)
        });
        parts.map(|part| (Requirement::Condition(part.clone()), nearly.implies(part, entity))).collect()
    }

    /// Returns whether a sparse index relates to what the caller knows; otherwise its condition is not what is missing.
    fn concerns(&self, mapping: &KeyMapping<'m>) -> bool {
        let condition = self.pattern.condition();
        let known = condition.attributes();
        let concerned = |name: &str| mapping.partition.has_field(name) || mapping.when.mentions(name);
        known.is_empty() || known.into_iter().any(concerned)
    }

    /// Checks that the partition key is known; shards and time buckets are read one by one.
    fn partition(
        &self,
        mapping: &KeyMapping<'m>,
        known: impl Fn(&str) -> bool,
    ) -> Result<Partitions, Obstacle> {
        let (mut requests, mut basis, mut in_turn) = (1_u64, Basis::Declared, false);
        let (mut fixed, mut missing) = (Vec::new(), Vec::new());
        let is_descending = self.pattern.order.as_ref().is_some_and(|order| order.descending);
        for part in &mapping.partition.parts {
            let Part::Field { name, format } = part else { continue };
            let ordered = self.pattern.order.as_ref().is_some_and(|order| order.by == *name);
            let ranged = self.pattern.range.as_ref().is_some_and(|range| range.by == *name);
            // The newest bucket is that of now; nobody knows the oldest.
            let from_newest = ordered && self.pattern.limit.is_some() && is_descending;
            if known(name) {
                fixed.push(name.clone());
            } else if name == SHARD {
                // Which of them are read follows from the values of the whole key.
            } else if let Format::Bucket(length) = format
                && (ranged || from_newest)
            {
                // A month is in one year: the shortest time decides.
                if mapping.partition.shortest_bucket(name) != Some(*length) {
                    continue;
                }
                let counted = self.buckets(*length);
                requests = requests.saturating_mul(counted.unwrap_or(ASSUMED_BUCKETS));
                in_turn |= ordered && self.pattern.limit.is_some();
                basis = basis.and(if counted.is_some() { Basis::Derived } else { Basis::Assumed });
            } else {
                missing.push(name.clone());
            }
        }
        if missing.is_empty() {
            return Ok(Partitions { requests, basis, in_turn, fixed });
        }
        let partial = !fixed.is_empty();
        Err(Obstacle::Partition { template: mapping.partition.clone(), missing, partial })
    }

    /// The number of time buckets between the declared bounds, for buckets that keep `length` characters of a time.
    fn buckets(&self, length: usize) -> Option<u64> {
        let range = self.pattern.range.as_ref()?;
        buckets::count(range.from.as_deref()?, range.to.as_deref()?, length)
    }
}

/// The known start of a sort key up to the last value that the partition key does not fix already, with the delimiter that ends the value.
pub(super) fn narrowing(mapping: &KeyMapping<'_>, prefix: &Template) -> Template {
    let is_in_partition =
        |wanted: &str| mapping.partition.parts.iter().any(|part| part.holds_whole(wanted, mapping.entity));
    let narrows = |part: &Part| matches!(part, Part::Field { name, .. } if !is_in_partition(name));
    let Some(last) = prefix.parts.iter().rposition(narrows) else { return Template::default() };
    let mut parts = prefix.parts[..=last].to_vec();
    if let Some(Part::Text(text)) = prefix.parts.get(last + 1) {
        parts.push(Part::Text(text.chars().take(1).collect()));
    }
    Template { parts }
}

/// Returns whether parts of a key hold no more of an attribute than its time bucket.
fn is_bucket_only(attribute: &str, parts: &[Part], entity: &Entity) -> bool {
    let own = |part: &&Part| matches!(part, Part::Field { name, .. } if name == attribute);
    let is_bucket = |part: &Part| matches!(part, Part::Field { format: Format::Bucket(_), .. });
    parts.iter().filter(own).all(|part| is_bucket(part) && !part.holds_whole(attribute, entity))
}

/// The fields that the key condition fixes, each once, however often the key holds it.
fn fixed_fields(partitions: &Partitions, prefix: &Template, sort: &SortCondition) -> Vec<String> {
    let fields = prefix.fields().chain(exact_template(sort).into_iter().flat_map(Template::fields));
    let all = partitions.fixed.iter().map(String::as_str).chain(fields);
    each_once(all).map(str::to_owned).collect()
}

/// The whole sort key, if it is known.
fn exact_template(sort: &SortCondition) -> Option<&Template> {
    match sort {
        SortCondition::Equals(template) => Some(template),
        _ => None,
    }
}

/// The fixed fields that have several values: one value for each key that they make, for which there is a request. `parts` are those of the keys that are
/// compared.
fn alternatives(
    mapping: &KeyMapping<'_>,
    values: &BTreeMap<String, Vec<Constant>>,
    fixed: &[String],
    parts: &[Part],
) -> Alternatives {
    let several = values.iter().filter(|(name, values)| values.len() > 1 && fixed.contains(name));
    let of_keys = |(name, values): (&String, &Vec<Constant>)| {
        let mut seen = BTreeSet::new();
        let texts = values.iter().map(Constant::as_str);
        let texts = texts.filter(|text| seen.insert(key_texts(mapping, name, text, parts)));
        (name.clone(), texts.map(str::to_owned).collect())
    };
    several.map(of_keys).collect()
}

/// How keys write a value of a field wherever they hold it, and the value itself where it selects the shard.
fn key_texts(mapping: &KeyMapping<'_>, field: &str, value: &str, parts: &[Part]) -> Vec<Option<String>> {
    let written = parts.iter().filter_map(|part| match part {
        Part::Field { name, format } if name == field => Some(format.apply(value)),
        _ => None,
    });
    let selects = mapping.shard.is_some_and(|shard| shard.by.as_deref() == Some(field));
    written.chain(selects.then(|| Some(value.to_owned()))).collect()
}

/// Returns whether some values of a fixed field are asked for and others that the index holds are not.
fn is_selective(
    mapping: &KeyMapping<'_>,
    values: &BTreeMap<String, Vec<Constant>>,
    fixed: &[String],
) -> bool {
    values.iter().any(|(name, wanted)| {
        let here = mapping.when.values(name, mapping.entity).map(|values| values.len());
        let all = || mapping.entity.attribute(name)?.distinct().and_then(|all| usize::try_from(all).ok());
        fixed.contains(name) && here.or_else(all) != Some(wanted.len())
    })
}
