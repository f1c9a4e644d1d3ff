//! How one entity is reached in the table or an index: by a known partition key, and a sort key known up to the range or the order.

use super::held_parts::HeldParts;
use super::text_range::{is_exact, range_test};
use super::{Obstacle, Planner, SortCondition, buckets};
use crate::capacity::basis::Basis;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::Entity;
use crate::model::condition::{Condition, Constant};
use crate::model::limits::Precision;
use crate::model::pattern::TargetTypes;
use crate::model::value_type::ValueType;
use crate::name_hints;
use crate::template::{FieldTypes, Format, Part, SHARD, Template};
use std::collections::BTreeMap;

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
    pub fan_out: u64,
    /// What the number of requests rests on: the number of time buckets is assumed if the bounds are not declared.
    pub fan_out_basis: Basis,
    /// Whether time buckets are read one after the other, until the limit is reached.
    pub in_turn: bool,
    /// The number of shards of which one is read.
    pub one_of: u64,
    pub filter: Vec<String>,
    /// The tests that the key condition makes already, but for texts that contain the delimiter or differ in case.
    pub confirmations: Vec<String>,
    /// The tests on attributes that the index does not hold: the caller makes them.
    pub unfiltered: Vec<LateTest>,
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
}

/// A test that no filter of the request can make, and the attributes that it needs.
#[derive(Clone, Debug)]
pub(super) struct LateTest {
    pub text: String,
    pub attributes: Vec<String>,
}

/// What the key condition leaves to be tested.
#[derive(Default)]
struct Tests {
    filter: Vec<String>,
    confirmations: Vec<String>,
    unfiltered: Vec<LateTest>,
}

/// The partition keys that a pattern reads.
struct Partitions {
    /// Their number: shards and time buckets.
    requests: u64,
    basis: Basis,
    /// Whether time buckets are read one after the other, until the limit is reached.
    in_turn: bool,
    /// The number of shards of which one is read.
    one_of: u64,
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
        let mapping = self.keys.mapping(location, &entity.name).cloned().ok_or(Obstacle::Absent)?;
        if !self.pattern.condition().implies(&mapping.when, entity) {
            return Err(if self.concerns(&mapping) {
                Obstacle::Sparse { when: Box::new(mapping.when) }
            } else {
                Obstacle::Absent
            });
        }
        let values = self.values(&mapping);
        let constant = |name: &str| match values.get(name).map(Vec::as_slice) {
            Some([one]) => Some(one.as_str().to_owned()),
            _ => None,
        };
        let known =
            |name: &str| self.pattern.inputs.iter().any(|input| input == name) || values.contains_key(name);
        let partitions = self.partition(&mapping, known)?;
        let mut fixed = partitions.fixed;
        let partition = mapping.partition.substitute(constant);
        let (prefix, sort) = self.sort(&mapping, known)?;
        fixed.extend(prefix.fields().map(str::to_owned));
        if let SortCondition::Equals(template) = &sort {
            fixed.extend(template.fields().map(str::to_owned));
        }
        if self.pattern.strong && !location.is_consistent() {
            return Err(Obstacle::Consistency);
        }
        let known_parts: Vec<Part> = mapping.partition.parts.iter().chain(&prefix.parts).cloned().collect();
        let held = HeldParts::new(&mapping, &prefix, &sort);
        let Tests { filter, unfiltered, confirmations } =
            self.remaining_tests(&mapping, &held, &sort, &values);
        let texts = |values: &Vec<Constant>| values.iter().map(|value| value.as_str().to_owned()).collect();
        let several = values.iter().filter(|(name, values)| values.len() > 1 && fixed.contains(name));
        let alternatives: Alternatives =
            several.map(|(name, values)| (name.clone(), texts(values))).collect();
        let each = alternatives.values().map(|values| values.len() as u64);
        let fan_out = each.fold(partitions.requests, u64::saturating_mul);
        let sort = match sort.template() {
            Some(template) => sort.with(template.substitute(constant)),
            None => sort,
        };
        let narrowing = narrowing(&mapping, &prefix).substitute(constant);
        let prefix = prefix.substitute(constant);
        let sort_key = mapping.sort.as_ref().map(|key| key.substitute(constant)).unwrap_or_default();
        let is_selective = values.iter().any(|(name, wanted)| {
            let here = mapping.when.values(name, mapping.entity).map(|values| values.len());
            let all = || mapping.entity.attribute(name)?.distinct().and_then(|all| usize::try_from(all).ok());
            fixed.contains(name) && here.or_else(all) != Some(wanted.len())
        });
        // All items of a time bucket are read, whichever of its times is asked for.
        fixed.retain(|name| !is_bucket_only(name, &known_parts, entity));
        Ok(Access {
            mapping,
            partition,
            sort,
            prefix,
            sort_key,
            narrowing,
            fan_out,
            fan_out_basis: partitions.basis,
            in_turn: partitions.in_turn,
            one_of: partitions.one_of,
            filter,
            confirmations,
            unfiltered,
            fixed,
            alternatives,
            is_selective,
        })
    }

    /// The values of the key's fields that the conditions of the pattern and the index leave, where they are few.
    fn values(&self, mapping: &KeyMapping<'m>) -> BTreeMap<String, Vec<Constant>> {
        let condition = self.pattern.filter.and(&mapping.when);
        let tested = mapping.fields().filter(|name| condition.mentions(name));
        let own = tested.filter(|name| !self.pattern.inputs.iter().any(|input| input == name));
        let values = own.filter_map(|name| {
            // Items whose key has the field have the attribute; all of them are here only if it is required.
            let attribute = mapping.entity.attribute(name)?;
            let present = if attribute.optional { Condition::default() } else { Condition::exists(name) };
            let values = condition.and(&present).values(name, mapping.entity)?;
            (!values.is_empty()).then(|| (name.to_owned(), values))
        });
        values.collect()
    }

    /// The inputs and tests that the key condition leaves to a filter, and those that it leaves to the caller, since an index has no other
    /// attributes than the projected ones.
    fn remaining_tests(
        &self,
        mapping: &KeyMapping<'m>,
        held: &HeldParts<'m>,
        sort: &SortCondition,
        values: &BTreeMap<String, Vec<Constant>>,
    ) -> Tests {
        let entity = mapping.entity;
        let is_used = |name: &str| held.is_exact(name) || mapping.when.fixed(name).is_some();
        let inputs = self.pattern.inputs.iter();
        let inputs = inputs.filter(|input| !is_used(input) && entity.attribute(input).is_some());
        // What the condition of the index and the values in the key already ensure.
        let ensured = |is_held: &dyn Fn(&str) -> bool| {
            let listed = values.iter().filter(|(name, _)| is_held(name));
            let listed = listed.map(|(name, values)| Condition::among(name, values.clone()));
            mapping.when.and(&Condition::All(listed.collect()))
        };
        let (exactly, nearly) =
            (ensured(&|name| held.is_exact(name)), ensured(&|name| held.is_nearly_exact(name)));
        let parts = self.pattern.filter.conjuncts().into_iter().filter(|part| {
            let concerned = part.attributes().into_iter().any(|name| entity.attribute(name).is_some());
            concerned && !exactly.implies(part, entity)
        });
        let range = self.pattern.range.iter().map(|range| &range.by);
        let range = range.filter(|by| entity.attribute(by).is_some() && !is_exact(mapping, sort, by));
        let test =
            |text: String, attributes: Vec<String>, confirms: bool| (LateTest { text, attributes }, confirms);
        let names = |part: &Condition| part.attributes().into_iter().map(str::to_owned).collect();
        let inputs = inputs.map(|input| {
            test(format!("{input} = :{input}"), vec![input.clone()], held.is_nearly_exact(input))
        });
        let parts = parts.map(|part| test(part.to_string(), names(part), nearly.implies(part, entity)));
        let range = range.map(|by| test(range_test(by), vec![by.clone()], false));
        let mut tests = Tests::default();
        for (test, confirms) in inputs.chain(parts).chain(range) {
            if !test.attributes.iter().all(|name| mapping.has_attribute(self.model, name)) {
                tests.unfiltered.push(test);
                continue;
            }
            if confirms {
                tests.confirmations.push(test.text.clone());
            }
            tests.filter.push(test.text);
        }
        tests
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
        let (mut requests, mut basis, mut in_turn, mut one_of) = (1_u64, Basis::Declared, false, 1);
        let (mut fixed, mut missing) = (Vec::new(), Vec::new());
        for part in &mapping.partition.parts {
            let Part::Field { name, format } = part else { continue };
            let ordered = self.pattern.order.as_ref().is_some_and(|order| order.by == *name);
            let ranged = self.pattern.range.as_ref().is_some_and(|range| range.by == *name);
            if known(name) {
                fixed.push(name.clone());
            } else if name == SHARD {
                let by = mapping.shard.and_then(|shard| shard.by.as_deref());
                if by.is_some_and(&known) {
                    one_of = mapping.shards();
                } else {
                    requests = requests.saturating_mul(mapping.shards());
                }
            } else if let Format::Bucket(length) = format
                && (ranged || (ordered && self.pattern.limit.is_some()))
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
            return Ok(Partitions { requests, basis, in_turn, one_of, fixed });
        }
        let partial = !fixed.is_empty();
        Err(Obstacle::Partition { template: mapping.partition.clone(), missing, partial })
    }

    /// The number of time buckets between the declared bounds, for buckets that keep `length` characters of a time.
    fn buckets(&self, length: usize) -> Option<u64> {
        let range = self.pattern.range.as_ref()?;
        buckets::count(range.from.as_deref()?, range.to.as_deref()?, length)
    }

    /// The known start of the sort key and the condition on it.
    fn sort(
        &self,
        mapping: &KeyMapping<'m>,
        known: impl Fn(&str) -> bool,
    ) -> Result<(Template, SortCondition), Obstacle> {
        let range = self.pattern.range.as_ref().filter(|range| mapping.entity.attribute(&range.by).is_some());
        let many =
            self.pattern.targets.iter().any(|target| target.entity == mapping.entity.name && target.many);
        let has_order = |by: &str| many || mapping.entity.attribute(by).is_some();
        let order = self.pattern.order.as_ref().filter(|order| has_order(&order.by));
        let Some(template) = &mapping.sort else {
            let wanted = range.map(|range| &range.by).or(order.map(|order| &order.by).filter(|_| many));
            return match wanted.filter(|wanted| !known(wanted)) {
                Some(wanted) => Err(Obstacle::NoSortKey { wanted: wanted.clone() }),
                None => Ok((Template::default(), SortCondition::Any)),
            };
        };
        let (prefix, rest) = template.split_known(&known);
        let Some(Part::Field { name: next, format }) = rest.first() else {
            let tied = order.filter(|order| many && !known(&order.by) && !is_identified(mapping, &known));
            return match tied {
                Some(order) => Err(Obstacle::Tied { by: order.by.clone() }),
                None => Ok((prefix.clone(), SortCondition::Equals(template.clone()))),
            };
        };
        let before = || Template { parts: rest.to_vec() }.fields().map(str::to_owned).collect();
        let sorted = |by: &str| {
            let kind = mapping.entity.attribute(by).map(|attribute| &attribute.kind);
            let keeps =
                kind.is_none_or(|kind| format.keeps_order(kind)) || mapping.sorts_as_number(self.model, next);
            if keeps {
                return Ok(());
            }
            Err(Obstacle::Unsorted { by: by.to_owned(), template: template.clone() })
        };
        let late = template.late_delimiter(next, mapping.entity);
        let behind_letters = late.filter(|delimiter| *delimiter > '0');
        if let Some(order) = order.filter(|order| !known(&order.by)) {
            let named = order.by == *next || self.stands_for(mapping, next, &order.by);
            if !named && !self.follows_time(mapping, next, &order.by) {
                return Err(Obstacle::Order { by: order.by.clone(), before: before() });
            }
            sorted(next)?;
            // Of choices it is certain that two sort otherwise than their keys.
            if let Some(delimiter) = behind_letters.or(late.filter(|_| is_choice(mapping.entity, next))) {
                let (by, template) = (order.by.clone(), template.clone());
                return Err(Obstacle::Delimited { by, delimiter, template });
            }
            if is_coarse(rest, mapping.entity) {
                return Err(Obstacle::Coarse { by: order.by.clone(), template: template.clone() });
            }
        }
        let Some(range) = range.filter(|range| !known(&range.by)) else { return Ok(unbounded(prefix)) };
        if range.by != *next {
            return Err(Obstacle::Range { by: range.by.clone(), before: before() });
        }
        sorted(next)?;
        // Escaped characters sort elsewhere, before and behind the bounds; before a delimiter that sorts behind letters, no bound is left.
        if *format == Format::Escaped || behind_letters.is_some() {
            return Ok(unbounded(prefix));
        }
        let fits = |bound: &Option<String>| match format {
            Format::Bucket(length) => bound.as_ref().is_some_and(|text| text.len() <= *length),
            _ => true,
        };
        // A longer lower bound sorts after the times that it lies in.
        if is_coarse(rest, mapping.entity) && !(fits(&range.from) && fits(&range.to)) {
            return Err(Obstacle::Coarse { by: range.by.clone(), template: template.clone() });
        }
        Ok((prefix.clone(), SortCondition::Between { prefix, by: range.by.clone(), format: *format }))
    }

    /// Returns whether the field takes the place of an order attribute that the entity lacks: `uploadedAt` beside `createdAt`.
    fn stands_for(&self, mapping: &KeyMapping<'m>, field: &str, by: &str) -> bool {
        let kind = mapping.entity.attribute(field).map(|attribute| &attribute.kind);
        let types = TargetTypes { model: self.model, targets: &self.pattern.targets };
        let wanted = types.type_of(by);
        mapping.entity.attribute(by).is_none() && kind == wanted && kind.is_some_and(ValueType::is_time)
    }

    /// Returns whether the field is the entity's own ULID or KSUID, which sorts by creation time, to the millisecond or the second.
    fn follows_time(&self, mapping: &KeyMapping<'m>, field: &str, by: &str) -> bool {
        let kind = |name: &str| mapping.entity.attribute(name).map(|attribute| &attribute.kind);
        let by_creation = name_hints::is_creation_time(by);
        let own = mapping.entity.identity() == Some(field);
        let precision = mapping.entity.attribute(by).and_then(|attribute| attribute.limits.precision);
        let sortable = match kind(field) {
            Some(ValueType::Ulid) => precision != Some(Precision::Microsecond),
            Some(ValueType::Ksuid) => {
                matches!(precision, None | Some(Precision::Minute | Precision::Second))
            }
            _ => false,
        };
        by_creation && own && sortable && kind(by).is_some_and(ValueType::is_time)
    }
}

fn is_choice(entity: &Entity, name: &str) -> bool {
    entity.attribute(name).is_some_and(|attribute| matches!(attribute.kind, ValueType::Choice(_)))
}

/// The condition that a sort key starts with what is known of it.
fn unbounded(prefix: Template) -> (Template, SortCondition) {
    let is_empty = prefix.parts.is_empty();
    let sort = if is_empty { SortCondition::Any } else { SortCondition::BeginsWith(prefix.clone()) };
    (prefix, sort)
}

/// The known start of a sort key up to the last value that the partition key does not fix already, with the delimiter that ends the value.
fn narrowing(mapping: &KeyMapping<'_>, prefix: &Template) -> Template {
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

/// Returns whether known values identify one item, whatever its key in an index.
fn is_identified(mapping: &KeyMapping<'_>, known: impl Fn(&str) -> bool) -> bool {
    let entity = mapping.entity;
    let by_identity = entity.identity().is_some_and(&known) && entity.versions.is_none();
    by_identity || entity.is_unique_by(&known) || entity.key_fields().all(known)
}

/// Returns whether a sort key continues with the start of a time, and not with the rest of it before anything else.
fn is_coarse(rest: &[Part], entity: &Entity) -> bool {
    let mut fields = rest.iter().filter_map(|part| match part {
        Part::Field { name, format } => Some((name.as_str(), *format)),
        Part::Text(_) => None,
    });
    let Some((first, _)) = fields.clone().next() else { return false };
    let whole = match entity.attribute(first).map(|attribute| &attribute.kind) {
        Some(ValueType::Date) => 10,
        _ => usize::MAX,
    };
    let is_whole = |format: Format| match format {
        Format::Bucket(length) => length >= whole,
        _ => true,
    };
    !fields.by_ref().take_while(|(name, _)| *name == first).any(|(_, format)| is_whole(format))
}
