//! Several entities by one request: one partition, one range of the sort key, and nothing else in it.

use super::access::Access;
use super::{Planner, SortCondition, SplitReason, Step};
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::{KeyRange, MAX_NAMED};
use crate::model::{Entity, Target};
use crate::template::Template;

impl<'m> Planner<'_, 'm> {
    /// Reads all entities by one request, or returns why that is impossible.
    pub(super) fn together(&self, location: TableOrIndex<'m>) -> Result<Vec<Step<'m>>, Option<SplitReason>> {
        let mut accesses = Vec::new();
        for target in &self.pattern.targets {
            let access = self.access(location, self.entity(target)).map_err(|_| None)?;
            accesses.push((target, access));
        }
        let first = &accesses[0].1;
        let agree =
            |access: &Access<'m>| access.partition == first.partition && access.fan_out == first.fan_out;
        if !accesses.iter().all(|(_, access)| agree(access)) || !self.one_order(&accesses) {
            return Err(None);
        }
        self.reads_from_right_end(&accesses).map_err(Some)?;
        let cover = self.cover(location, &accesses).map_err(Some)?;
        self.steps(&accesses, Some(cover)).map_err(|_| None)
    }

    /// Several lists in one order need the attribute of the order after one common prefix.
    fn one_order(&self, accesses: &[(&Target, Access<'m>)]) -> bool {
        if self.pattern.order.is_none() {
            return true;
        }
        let mut prefixes =
            accesses.iter().filter(|(target, _)| target.many).map(|(_, access)| &access.prefix);
        let first = prefixes.next();
        prefixes.all(|prefix| Some(prefix) == first)
    }

    /// With a limit, single items must sort at the end from which the list is read.
    fn reads_from_right_end(&self, accesses: &[(&Target, Access<'m>)]) -> Result<(), SplitReason> {
        let (Some(_), Some(order)) = (self.pattern.limit, &self.pattern.order) else { return Ok(()) };
        let collections: Vec<_> = accesses.iter().filter(|(target, _)| target.many).collect();
        for (single, access) in accesses.iter().filter(|(target, _)| !target.many) {
            for (many, other) in &collections {
                let after = access.prefix.prefix() > other.prefix.prefix();
                if after != order.descending {
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
        let mut common = accesses[0].1.prefix.clone();
        for (_, access) in &accesses[1..] {
            common = common.common_prefix(&access.prefix);
        }
        let keeps_inputs = |kept: &Template| {
            accesses.iter().all(|(_, access)| {
                access.prefix.fields().all(|field| kept.has_field(field) || access.partition.has_field(field))
            })
        };
        let prefix = if common.parts.is_empty() {
            SortCondition::Any
        } else {
            SortCondition::BeginsWith(common.clone())
        };
        if !keeps_inputs(&common) {
            return Err(SplitReason::Separate);
        }
        if common.ends_in_variable_field(accesses[0].1.mapping.entity) {
            return Err(SplitReason::AmbiguousPrefix(common.to_string()));
        }
        let mut other_types = self.other_types(location, accesses, &prefix);
        if other_types.is_empty() {
            return Ok(prefix);
        }
        if common.fields().next().is_none() {
            let texts = || accesses.iter().map(|(_, access)| access.prefix.prefix());
            let (from, to) = (texts().min().unwrap_or_default(), texts().max().unwrap_or_default());
            if !from.is_empty() {
                let span = SortCondition::Range { from: from.to_owned(), to: format!("{to}\u{10FFFF}") };
                other_types = self.other_types(location, accesses, &span);
                if other_types.is_empty() {
                    return Ok(span);
                }
            }
        }
        Err(SplitReason::OthersBetween(other_types.iter().map(|entity| entity.name.clone()).collect()))
    }

    /// Other entities that a condition would return as well, or some of them if they are many.
    pub(super) fn other_types(
        &self,
        location: TableOrIndex<'m>,
        accesses: &[(&Target, Access<'m>)],
        sort: &SortCondition,
    ) -> Vec<&'m Entity> {
        let wanted = |name: &str| accesses.iter().any(|(target, _)| target.entity == name);
        let own = &accesses[0].1;
        let key_range = KeyRange { partition: &own.partition, sort, types: own.mapping.entity };
        let others =
            self.keys.within(location, key_range, MAX_NAMED, |mapping| !wanted(&mapping.entity.name));
        others.into_iter().map(|mapping| mapping.entity).collect()
    }
}
