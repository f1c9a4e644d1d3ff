//! How one entity is reached in the table or an index: by a known partition key, and a sort key known up to the range or the order.

use super::{Obstacle, Planner, SortCondition};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::Entity;
use crate::model::condition::{Condition, Test};
use crate::model::value_type::ValueType;
use crate::name_hints;
use crate::template::{Format, Part, SHARD, Template};

/// How one entity is reached in the table or an index.
#[derive(Clone, Debug)]
pub(super) struct Access<'m> {
    pub mapping: KeyMapping<'m>,
    pub partition: Template,
    pub sort: SortCondition,
    /// The known start of the sort key.
    pub prefix: Template,
    pub fan_out: u64,
    pub filter: Vec<String>,
    /// The fields that the key condition fixes.
    pub fixed: Vec<String>,
}

impl<'m> Planner<'_, 'm> {
    /// The pattern's condition, with its inputs.
    fn condition(&self) -> Condition {
        let mut condition = self.pattern.filter.clone();
        condition.tests.extend(self.pattern.inputs.iter().cloned().map(Test::Exists));
        condition
    }

    /// How an entity is reached in the table or an index.
    pub(super) fn access(
        &self,
        location: TableOrIndex<'m>,
        entity: &'m Entity,
    ) -> Result<Access<'m>, Obstacle> {
        let mapping = self.keys.mapping(location, &entity.name).cloned().ok_or(Obstacle::Absent)?;
        if !self.condition().implies(&mapping.when) {
            return Err(if self.concerns(&mapping) {
                Obstacle::Sparse { when: mapping.when }
            } else {
                Obstacle::Absent
            });
        }
        let constant = |name: &str| {
            let fixed = self.pattern.filter.fixed(name).or_else(|| mapping.when.fixed(name));
            fixed.map(str::to_owned)
        };
        let known = |name: &str| self.pattern.is_fixed(name) || mapping.when.fixed(name).is_some();
        let (fan_out, mut fixed) = self.partition(&mapping, known)?;
        let partition = mapping.partition.substitute(constant);
        let (prefix, sort) = self.sort(&mapping, known)?;
        fixed.extend(prefix.fields().map(str::to_owned));
        if let SortCondition::Equals(template) = &sort {
            fixed.extend(template.fields().map(str::to_owned));
        }
        if self.pattern.strong && !location.is_consistent() {
            return Err(Obstacle::Consistency);
        }
        let filter = self.remaining_filter(&mapping, &fixed);
        let sort = match sort.template() {
            Some(template) => sort.with(template.substitute(constant)),
            None => sort,
        };
        let prefix = prefix.substitute(constant);
        Ok(Access { mapping, partition, sort, prefix, fan_out, filter, fixed })
    }

    /// The inputs and tests that the key condition, which fixes the attributes `fixed`, leaves to a filter.
    fn remaining_filter(&self, mapping: &KeyMapping<'m>, fixed: &[String]) -> Vec<String> {
        let entity = mapping.entity;
        let is_fixed = |name: &str| fixed.iter().any(|own| own == name);
        // Once the identity is fixed, further inputs select nothing.
        let is_identified = entity.identity().is_some_and(is_fixed) && entity.versions.is_none();
        let is_used = |name: &str| is_identified || is_fixed(name) || mapping.when.fixed(name).is_some();
        let inputs = self.pattern.inputs.iter();
        let inputs = inputs.filter(|input| !is_used(input) && entity.attribute(input).is_some());
        let tests = self.pattern.filter.tests.iter().filter(|test| {
            let implied = mapping.when.tests.contains(test);
            let consumed = matches!(test, Test::Equals(name, _) if is_used(name));
            !implied && !consumed && entity.attribute(test.attribute()).is_some()
        });
        inputs.map(|input| format!("{input} = :{input}")).chain(tests.map(Test::to_string)).collect()
    }

    /// Returns whether a sparse index relates to what the caller knows; otherwise its condition is not what is missing.
    fn concerns(&self, mapping: &KeyMapping<'m>) -> bool {
        let condition = self.condition();
        let mut known = condition.tests.iter().map(Test::attribute).peekable();
        let tests = |name: &str| mapping.when.tests.iter().any(|test| test.attribute() == name);
        known.peek().is_none() || known.any(|name| mapping.partition.has_field(name) || tests(name))
    }

    /// Checks that the partition key is known; shards and time buckets are read one by one.
    fn partition(
        &self,
        mapping: &KeyMapping<'m>,
        known: impl Fn(&str) -> bool,
    ) -> Result<(u64, Vec<String>), Obstacle> {
        let mut fan_out = 1;
        let (mut fixed, mut missing) = (Vec::new(), Vec::new());
        for part in &mapping.partition.parts {
            let Part::Field { name, format } = part else { continue };
            let ordered = self.pattern.order.as_ref().is_some_and(|order| order.by == *name);
            let ranged = self.pattern.range.as_ref().is_some_and(|range| range.by == *name);
            if known(name) {
                fixed.push(name.clone());
            } else if name == SHARD {
                let by = mapping.shard.and_then(|shard| shard.by.as_deref());
                if !by.is_some_and(&known) {
                    fan_out *= mapping.shards();
                }
            } else if matches!(format, Format::Bucket(_))
                && (ranged || (ordered && self.pattern.limit.is_some()))
            {
                fan_out *= self.buckets(*format);
            } else {
                missing.push(name.clone());
            }
        }
        if missing.is_empty() {
            return Ok((fan_out, fixed));
        }
        let partial = !fixed.is_empty();
        Err(Obstacle::Partition { template: mapping.partition.clone(), missing, partial })
    }

    /// The number of time buckets between the bounds; two if the bounds are unknown.
    fn buckets(&self, format: Format) -> u64 {
        let bounds =
            self.pattern.range.as_ref().and_then(|range| range.from.as_deref().zip(range.to.as_deref()));
        let month = |text: &str| -> Option<i64> {
            let year: i64 = text.get(..4)?.parse().ok()?;
            let month: i64 = text.get(5..7).map_or(Ok(1), str::parse).ok()?;
            Some(year * 12 + month)
        };
        let months = bounds.and_then(|(from, to)| Some(month(to)? - month(from)? + 1));
        match (format, months) {
            (Format::Bucket(7), Some(months)) => months.max(1) as u64,
            (Format::Bucket(4), Some(months)) => (months / 12 + 1).max(1) as u64,
            _ => 2,
        }
    }

    /// The known start of the sort key and the condition on it.
    fn sort(
        &self,
        mapping: &KeyMapping<'m>,
        known: impl Fn(&str) -> bool,
    ) -> Result<(Template, SortCondition), Obstacle> {
        let range = self.pattern.range.as_ref().filter(|range| mapping.entity.attribute(&range.by).is_some());
        let order = self.pattern.order.as_ref().filter(|order| mapping.entity.attribute(&order.by).is_some());
        let many =
            self.pattern.targets.iter().any(|target| target.entity == mapping.entity.name && target.many);
        let Some(template) = &mapping.sort else {
            let wanted = range.map(|range| &range.by).or(order.map(|order| &order.by).filter(|_| many));
            return match wanted.filter(|wanted| !known(wanted)) {
                Some(wanted) => Err(Obstacle::NoSortKey { wanted: wanted.clone() }),
                None => Ok((Template::default(), SortCondition::Any)),
            };
        };
        let (prefix, rest) = template.split_known(&known);
        let Some(Part::Field { name: next, format }) = rest.first() else {
            return Ok((prefix.clone(), SortCondition::Equals(template.clone())));
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
        if let Some(order) = order.filter(|order| !known(&order.by)) {
            if order.by != *next && !self.follows_time(mapping, next, &order.by) {
                return Err(Obstacle::Order { by: order.by.clone(), before: before() });
            }
            sorted(next)?;
        }
        let Some(range) = range.filter(|range| !known(&range.by)) else {
            let sort = if prefix.parts.is_empty() {
                SortCondition::Any
            } else {
                SortCondition::BeginsWith(prefix.clone())
            };
            return Ok((prefix, sort));
        };
        if range.by != *next {
            return Err(Obstacle::Range { by: range.by.clone(), before: before() });
        }
        sorted(next)?;
        Ok((prefix.clone(), SortCondition::Between { prefix, by: range.by.clone() }))
    }

    /// Returns whether the field is the entity's own ULID or KSUID, which sorts by creation time.
    fn follows_time(&self, mapping: &KeyMapping<'m>, field: &str, by: &str) -> bool {
        let kind = |name: &str| mapping.entity.attribute(name).map(|attribute| &attribute.kind);
        let by_creation = name_hints::is_creation_time(by);
        let own = mapping.entity.identity() == Some(field);
        let sortable = matches!(kind(field), Some(ValueType::Ulid | ValueType::Ksuid));
        by_creation && own && sortable && kind(by).is_some_and(ValueType::is_time)
    }
}
