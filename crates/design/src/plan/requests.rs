//! Turns accesses into requests: the operation, the limit, the amount read, and what must be read from the table afterwards.

use super::access::Access;
use super::afterwards::Afterwards;
use super::amount::Amount;
use super::follow::batches;
use super::requirement::Requirement;
use super::{Obstacle, Operation, Planner, SortCondition, Step, primary_key};
use crate::capacity::size;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::each_once::each_once;
use crate::model::{Entity, Target};
use std::collections::BTreeMap;

impl<'m> Planner<'_, 'm> {
    /// Turns accesses to one partition into requests.
    pub(super) fn steps(
        &self,
        accesses: &[(&Target, Access<'m>)],
        cover: Option<SortCondition>,
    ) -> Result<Vec<Step<'m>>, Obstacle> {
        let late = united(accesses, |access| &access.unfiltered);
        let step = self.first_step(accesses, cover, late.is_empty());
        let hydration = self.hydration(accesses, &step)?;
        let mut steps: Vec<Step<'m>> = std::iter::once(step).chain(hydration).collect();
        // Where a single item that is read with a list does not exist, the list is longer by one.
        let is_mixed = accesses.iter().any(|(target, _)| !target.many) && accesses.len() > 1;
        if let Some((last, limit)) = steps.last_mut().zip(self.pattern.limit.filter(|_| is_mixed)) {
            last.afterwards.push(Afterwards::KeepOfAll(limit));
        }
        if let Some(last) = steps.last_mut().filter(|_| !late.is_empty()) {
            last.afterwards.push(Afterwards::Drop(late));
            last.afterwards.extend(self.pattern.limit.map(Afterwards::Keep));
        }
        Ok(steps)
    }

    /// The request that searches. `is_last_test` is whether nothing is left to be tested after its filter.
    fn first_step(
        &self,
        accesses: &[(&Target, Access<'m>)],
        cover: Option<SortCondition>,
        is_last_test: bool,
    ) -> Step<'m> {
        let (_, first) = &accesses[0];
        let location = first.mapping.location;
        let sort = cover.unwrap_or_else(|| first.sort.clone());
        let exact = matches!(sort, SortCondition::Equals(_)) || first.mapping.sort.is_none();
        let is_get = exact && location.index.is_none() && first.fan_out == 1 && self.declared.is_none();
        let (extras, strays) = self.neighbours(location, accesses, &sort);
        let filter = united(accesses, |access| &access.filter);
        let confirmations = united(accesses, |access| &access.confirmations);
        // `Limit` counts what is read, whatever is dropped afterwards.
        let is_dropping = filter.len() != confirmations.len() || !is_last_test || !extras.is_empty();
        // A single item at the other end is reached only by a read of the whole list.
        let is_limited = self.reads_from_right_end(accesses).is_ok();
        let is_sifted = is_dropping || !is_limited;
        let wanted = self.limit(accesses, exact).filter(|_| is_last_test && is_limited);
        let Amount { items, bytes, bytes_of_targets, max_bytes, found } =
            self.amount(accesses, &extras, is_sifted);
        let step = Step {
            operation: if is_get { Operation::Get } else { Operation::Query },
            location,
            targets: accesses.iter().map(|(_, access)| access.mapping.entity).collect(),
            partition: first.partition.clone(),
            sort,
            forward: !self.pattern.order.as_ref().is_some_and(|order| order.descending),
            limit: wanted.filter(|_| !is_sifted),
            fan_out: first.fan_out as f64,
            fan_out_basis: first.fan_out_basis,
            alternatives: first.alternatives_and_shards(),
            filter,
            confirmations,
            extras,
            strays,
            strong: self.pattern.strong,
            items,
            bytes,
            bytes_of_targets,
            max_bytes,
            found,
            follow: None,
            afterwards: Vec::new(),
        };
        Step { afterwards: self.afterwards(&step, wanted, first.in_turn), ..step }
    }

    /// Other entities that a request returns as well, and those that it returns only if a text contains the delimiter.
    fn neighbours(
        &self,
        location: TableOrIndex<'m>,
        accesses: &[(&Target, Access<'m>)],
        sort: &SortCondition,
    ) -> (Vec<&'m Entity>, Vec<&'m Entity>) {
        let sort = self.declared.as_ref().map_or(sort, |declared| &declared.read);
        // Only in the table does a key belong to one item.
        if matches!(sort, SortCondition::Equals(_)) && location.index.is_none() {
            return (Vec::new(), Vec::new());
        }
        let mut strays = self.other_types(location, accesses, sort, true);
        // Without such texts there are no others than with them.
        if strays.is_empty() {
            return (Vec::new(), strays);
        }
        let extras = self.other_types(location, accesses, sort, false);
        strays.retain(|stray| extras.iter().all(|extra| extra.name != stray.name));
        (extras, strays)
    }

    /// The declared limit, raised by the single items that are read with a list. Without one, single items need no more than their number,
    /// unless the request is exact.
    fn limit(&self, accesses: &[(&Target, Access<'m>)], is_exact: bool) -> Option<u64> {
        let single_items = accesses.iter().filter(|(target, _)| !target.many).count();
        match self.pattern.limit {
            Some(limit) if accesses.len() > 1 => Some(limit + single_items as u64),
            Some(limit) => Some(limit),
            None => (single_items == accesses.len() && !is_exact).then_some(single_items as u64),
        }
    }

    /// A second read from the table for attributes that the index lacks.
    pub(super) fn hydration(
        &self,
        accesses: &[(&Target, Access<'m>)],
        step: &Step<'m>,
    ) -> Result<Option<Step<'m>>, Obstacle> {
        let mut missing = Vec::new();
        for (_, access) in accesses {
            let available = access.mapping.available();
            let entity = access.mapping.entity;
            let all = entity.attributes.iter().map(|attribute| attribute.name.as_str());
            let wanted: Vec<&str> = if self.pattern.fields.is_empty() {
                all.collect()
            } else {
                all.filter(|name| self.pattern.fields.iter().any(|field| field == name)).collect()
            };
            let tested = access.unfiltered.iter().flat_map(Requirement::attributes);
            let tested = tested.filter(|name| entity.attribute(name).is_some());
            let lacking = wanted.into_iter().chain(tested).filter(|name| !available.contains(name));
            missing.extend(lacking.map(str::to_owned));
        }
        if missing.is_empty() {
            return Ok(None);
        }
        if !self.pattern.hydrate {
            return Err(Obstacle::Projection { missing });
        }
        let (partition, sort) = primary_key(accesses[0].1.mapping.entity);
        let found = step.found;
        // What the caller tests afterwards may be one of several.
        let one = found.max <= 1.0 && accesses.iter().all(|(_, access)| access.unfiltered.is_empty());
        let bytes_of_targets = self.whole_bytes(accesses, step);
        let bytes = bytes_of_targets.iter().sum();
        Ok(Some(Step {
            operation: if one { Operation::Get } else { Operation::BatchGet },
            location: TableOrIndex { index: None },
            partition,
            sort,
            limit: None,
            fan_out: batches(found.average, bytes),
            fan_out_basis: found.basis,
            items: found,
            filter: Vec::new(),
            confirmations: Vec::new(),
            extras: Vec::new(),
            strays: Vec::new(),
            alternatives: BTreeMap::new(),
            bytes,
            bytes_of_targets,
            max_bytes: 0.0,
            afterwards: self.arranged(step),
            ..step.clone()
        }))
    }

    /// How many bytes the items that a step found have in the table, of each entity: they are found in the proportion in which they are read.
    fn whole_bytes(&self, accesses: &[(&Target, Access<'m>)], step: &Step<'m>) -> Vec<f64> {
        let read = accesses
            .iter()
            .zip(&step.bytes_of_targets)
            .map(|((_, access), bytes)| bytes / size::entry(self.model, &access.mapping).value.max(1.0));
        let read: Vec<f64> = read.collect();
        let all: f64 = read.iter().sum();
        let whole = accesses.iter().map(|(_, access)| size::item(self.model, access.mapping.entity).value);
        let found = read.iter().map(|read| if all > 0.0 { step.found.average * read / all } else { 0.0 });
        found.zip(whole).map(|(items, each)| items * each).collect()
    }
}

/// What several accesses require, each requirement once.
pub(super) fn united(
    accesses: &[(&Target, Access<'_>)],
    required: impl for<'a> Fn(&'a Access<'_>) -> &'a [Requirement],
) -> Vec<Requirement> {
    each_once(accesses.iter().flat_map(|(_, access)| required(access))).cloned().collect()
}
