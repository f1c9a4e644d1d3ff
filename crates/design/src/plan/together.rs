//! Several entities by one request: one partition, one range of the sort key, and nothing else in it.

use super::access::{Access, narrowing};
use super::bounds::LAST;
use super::requirement::Requirement;
use super::{Planner, SortCondition, Step};
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::{KeyRange, MAX_NAMED};
use crate::model::each_once::each_once;
use crate::model::limits::{Precision, Zone};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Target};
use crate::template::{ATTRIBUTE_SEPARATOR, Format, Part};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Why several entities are not read by one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitReason {
    /// They are not stored together.
    Separate,
    /// A common prefix would also match longer values.
    AmbiguousPrefix(String),
    /// Items of these entities sort between them.
    OthersBetween(Vec<String>),
    /// A list is narrowed within its sort key, and a request for all of them would not be.
    Narrowed {
        /// The entity of the list.
        entity: String,
        /// The part of its key, or the attribute that bounds it.
        by: String,
    },
    /// A filter that one of them needs would drop the items of another.
    Filtered {
        /// The entity whose items would be dropped.
        entity: String,
        /// What the filter requires.
        requirement: Box<Requirement>,
    },
    /// The single item sorts at the end that a limited read does not reach.
    OppositeEnd {
        /// The entity of the single item.
        single: String,
        /// The entity of the list.
        many: String,
    },
}

impl<'m> Planner<'_, 'm> {
    /// Reads all entities by one request, or returns why that is impossible.
    pub(super) fn together(&self, location: TableOrIndex<'m>) -> Result<Vec<Step<'m>>, Option<SplitReason>> {
        let mut accesses = Vec::new();
        for target in &self.pattern.targets {
            let entity = self.entity(target);
            self.answerable(target, entity).map_err(|_| None)?;
            let access = self.access(location, entity).map_err(|_| None)?;
            accesses.push((target, access));
        }
        let first = &accesses[0].1;
        let agree = |access: &Access<'m>| {
            access.partition == first.partition
                && access.fan_out == first.fan_out
                && access.alternatives == first.alternatives
                && access.reads_the_shards_of(first)
        };
        if !accesses.iter().all(|(_, access)| agree(access)) || !self.one_order(&accesses) {
            return Err(None);
        }
        if !have_one_condition(&accesses) {
            accesses = accesses.into_iter().map(|(target, access)| (target, self.opened(access))).collect();
        }
        let cover = self.cover(location, &accesses).map_err(Some)?;
        one_filter(&accesses).map_err(Some)?;
        // What a declared request reads beyond the limit is dropped by the caller.
        if self.declared.is_none() {
            self.reads_from_right_end(&accesses).map_err(Some)?;
        }
        self.steps(&accesses, Some(cover)).map_err(|_| None)
    }

    /// Several lists in one order need the attribute of the order after one common prefix, written in one way.
    fn one_order(&self, accesses: &[(&Target, Access<'m>)]) -> bool {
        if self.pattern.order.is_none() {
            return true;
        }
        let lists = accesses.iter().filter(|(target, _)| target.many);
        let mut orders = lists.map(|(_, access)| (&access.prefix, access.next_values()));
        let first = orders.next();
        orders.all(|order| Some(order) == first)
    }

    /// With a limit, single items must sort at the end from which the list is read.
    pub(super) fn reads_from_right_end(&self, accesses: &[(&Target, Access<'m>)]) -> Result<(), SplitReason> {
        if self.pattern.limit.is_none() {
            return Ok(());
        }
        let is_descending = self.pattern.order.as_ref().is_some_and(|order| order.descending);
        let first = if is_descending { Ordering::Greater } else { Ordering::Less };
        for (single, access) in accesses.iter().filter(|(target, _)| !target.many) {
            for (many, other) in accesses.iter().filter(|(target, _)| target.many) {
                if access.sorts_beside(other) != Some(first) {
                    return Err(SplitReason::OppositeEnd {
                        single: single.entity.clone(),
                        many: many.entity.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The narrowest sort condition that covers all wanted entities and no other.
    fn cover(
        &self,
        location: TableOrIndex<'m>,
        accesses: &[(&Target, Access<'m>)],
    ) -> Result<SortCondition, SplitReason> {
        let sorts = || accesses.iter().map(|(_, access)| &access.sort);
        if sorts().any(|sort| matches!(sort, SortCondition::Between { .. })) {
            return self.bounded(location, accesses);
        }
        // The request of each reads the others, too.
        if have_one_condition(accesses) {
            return Ok(accesses[0].1.sort.clone());
        }
        let mut common = accesses[0].1.prefix.clone();
        for (_, access) in &accesses[1..] {
            common = common.common_prefix(&access.prefix);
        }
        let prefix = if common.parts.is_empty() {
            SortCondition::Any
        } else {
            SortCondition::BeginsWith(common.clone())
        };
        let is_widened = |access: &Access<'m>| !common.starts_with(&access.narrowing);
        let is_ambiguous = |access: &Access<'m>| {
            let entity = access.mapping.entity;
            narrowing(&access.mapping, &common).ends_in_variable_field(entity)
                || !is_widened(access) && access.narrowing_fields.ends_in_variable_field(entity)
        };
        if accesses.iter().any(|(_, access)| is_ambiguous(access)) {
            return Err(SplitReason::AmbiguousPrefix(common.to_string()));
        }
        // Without this part of its key, the request would return items that the pattern does not ask for.
        if let Some((target, access)) = accesses.iter().find(|(_, access)| is_widened(access)) {
            let by = access.narrowing.to_string();
            return Err(SplitReason::Narrowed { entity: target.entity.clone(), by });
        }
        let mut other_types = self.other_types(location, accesses, &prefix, false);
        if other_types.is_empty() {
            return Ok(prefix);
        }
        // A range compares one attribute.
        let has_one_sort_key = location.halves(self.model).1.len() == 1;
        if let Some(span) = span(accesses).filter(|_| common.is_constant() && has_one_sort_key) {
            other_types = self.other_types(location, accesses, &span, false);
            if other_types.is_empty() {
                return Ok(span);
            }
        }
        // A declared request returns them as well.
        let declared = self.declared.as_ref().map(|declared| declared.read.clone());
        declared.ok_or_else(|| others_between(&other_types))
    }

    /// The range that bounds all wanted entities in one way and covers no other.
    fn bounded(
        &self,
        location: TableOrIndex<'m>,
        accesses: &[(&Target, Access<'m>)],
    ) -> Result<SortCondition, SplitReason> {
        let first = &accesses[0].1;
        let is_same = |access: &Access<'m>| {
            access.sort == first.sort
                && access.next_values() == first.next_values()
                && access.bounded_parts() == first.bounded_parts()
        };
        let bound = |access: &Access<'m>| match &access.sort {
            SortCondition::Between { by, .. } => Some(by.clone()),
            _ => None,
        };
        if !accesses.iter().all(|(_, access)| is_same(access)) {
            let ranged = accesses.iter().find_map(|(target, access)| Some((target, bound(access)?)));
            let (entity, by) = ranged.map(|(target, by)| (target.entity.clone(), by)).unwrap_or_default();
            return Err(SplitReason::Narrowed { entity, by });
        }
        let others = self.other_types(location, accesses, &first.sort, false);
        if others.is_empty() || self.declared.is_some() {
            return Ok(first.sort.clone());
        }
        Err(others_between(&others))
    }

    /// Other entities that a condition would return as well, or some of them if they are many. With `strict`, a text may contain the delimiter.
    pub(super) fn other_types(
        &self,
        location: TableOrIndex<'m>,
        accesses: &[(&Target, Access<'m>)],
        sort: &SortCondition,
        strict: bool,
    ) -> Vec<&'m Entity> {
        let wanted = |name: &str| accesses.iter().any(|(target, _)| target.entity == name);
        let own = &accesses[0].1;
        let key_range = KeyRange { partition: &own.partition, sort, types: own.mapping.entity, strict };
        let others =
            self.keys.within(location, key_range, MAX_NAMED, |mapping| !wanted(&mapping.entity.name));
        others.into_iter().map(|mapping| mapping.entity).collect()
    }
}

/// The values after the known start of a sort key, as keys hold them: two that are equal sort in one order.
#[derive(PartialEq, Eq)]
struct NextValues<'a> {
    kind: Option<&'a ValueType>,
    format: Format,
    time: Option<(Option<Precision>, Zone)>,
    /// What follows values of different lengths.
    delimiter: Option<char>,
}

impl Access<'_> {
    /// Whether both read the same shards: all of equally many, or those that one attribute selects.
    fn reads_the_shards_of(&self, other: &Access<'_>) -> bool {
        let reads_all = |access: &Access<'_>| access.shards.requests == access.mapping.shards();
        self.shards.requests == other.shards.requests
            && self.shards.numbers == other.shards.numbers
            && (self.mapping.shard == other.mapping.shard || reads_all(self) && reads_all(other))
    }

    /// The parts of the sort key after its known start.
    fn rest(&self) -> &[Part] {
        self.sort_key.parts.get(self.prefix.parts.len()..).unwrap_or_default()
    }

    /// The values that follow the known start of the sort key; `None` if nothing follows.
    fn next_values(&self) -> Option<NextValues<'_>> {
        let [Part::Field { name, format }, after @ ..] = self.rest() else { return None };
        let attribute = self.mapping.entity.attribute(name);
        let kind = attribute.map(|attribute| &attribute.kind);
        let time = attribute.filter(|attribute| attribute.kind.is_time());
        let is_fixed =
            format.length().is_some() || kind.is_some_and(|kind| kind.has_fixed_width() || kind.is_time());
        let delimiter = match after.first() {
            Some(Part::Text(text)) => text.chars().next(),
            _ => None,
        };
        Some(NextValues {
            kind,
            format: *format,
            time: time.map(|attribute| (attribute.limits.precision, attribute.limits.zone)),
            delimiter: delimiter.filter(|_| !is_fixed),
        })
    }

    /// The parts of the sort key that hold the attribute of the range.
    fn bounded_parts(&self) -> &[Part] {
        let SortCondition::Between { by, .. } = &self.sort else { return &[] };
        let is_other = |part: &Part| matches!(part, Part::Field { name, .. } if name != by);
        let rest = self.rest();
        let own = &rest[..rest.iter().position(is_other).unwrap_or(rest.len())];
        let last = own.iter().rposition(|part| matches!(part, Part::Field { .. }));
        &own[..last.map_or(0, |last| last + 1)]
    }

    /// How all items sort relative to all items of another access; `None` if that depends on their values.
    fn sorts_beside(&self, other: &Access<'_>) -> Option<Ordering> {
        let is_same = |name: &str| self.prefix.has_field(name) && other.prefix.has_field(name);
        self.sort_key.order(self.mapping.entity, &other.sort_key, other.mapping.entity, is_same)
    }
}

fn others_between(others: &[&Entity]) -> SplitReason {
    SplitReason::OthersBetween(others.iter().map(|entity| entity.name.clone()).collect())
}

/// Whether the request of each is the same.
fn have_one_condition(accesses: &[(&Target, Access<'_>)]) -> bool {
    accesses.iter().all(|(_, access)| access.sort == accesses[0].1.sort)
}

/// The range from the first to the last text that sort keys of these entities can start with, if all start with text of one attribute.
fn span(accesses: &[(&Target, Access<'_>)]) -> Option<SortCondition> {
    let texts = || accesses.iter().map(|(_, access)| access.prefix.prefix());
    if texts().any(|text| text.is_empty() || text.contains(ATTRIBUTE_SEPARATOR)) {
        return None;
    }
    // What starts with `ORDER#` can sort behind all that starts with `ORDER#ITEM#`.
    let to = texts().map(|text| format!("{text}{LAST}")).max()?;
    Some(SortCondition::Range { from: texts().min()?.to_owned(), to })
}

/// A filter tests every item, so that one which lacks the attribute is dropped: all entities must have the same requirements.
fn one_filter(accesses: &[(&Target, Access<'_>)]) -> Result<(), SplitReason> {
    let all: Vec<&Requirement> =
        each_once(accesses.iter().flat_map(|(_, access)| access.requirements())).collect();
    for (target, access) in accesses {
        let own: BTreeSet<&Requirement> = access.requirements().collect();
        if let Some(&requirement) = all.iter().find(|requirement| !own.contains(*requirement)) {
            let (entity, requirement) = (target.entity.clone(), Box::new(requirement.clone()));
            return Err(SplitReason::Filtered { entity, requirement });
        }
    }
    Ok(())
}
