//! Turns accesses into requests: the operation, the limit, the amount read, and what must be read from the table afterwards.

use super::access::Access;
use super::afterwards::Afterwards;
use super::amount::Amount;
use super::follow::batches;
use super::{Obstacle, Operation, Planner, SortCondition, Step};
use crate::capacity::size;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Target;
use std::collections::{BTreeMap, BTreeSet};

impl<'m> Planner<'_, 'm> {
    /// Turns accesses to one partition into requests.
    pub(super) fn steps(
        &self,
        accesses: &[(&Target, Access<'m>)],
        cover: Option<SortCondition>,
    ) -> Result<Vec<Step<'m>>, Obstacle> {
        let (_, first) = &accesses[0];
        let location = first.mapping.location;
        let sort = cover.unwrap_or_else(|| first.sort.clone());
        let exact = matches!(sort, SortCondition::Equals(_)) || first.mapping.sort.is_none();
        let operation = if exact && location.index.is_none() && first.fan_out == 1 {
            Operation::Get
        } else {
            Operation::Query
        };
        let others = |strict: bool| match &sort {
            // Only in the table does a key belong to one item.
            SortCondition::Equals(_) if location.index.is_none() => Vec::new(),
            sort => self.other_types(location, accesses, sort, strict),
        };
        let (extras, mut strays) = (others(false), others(true));
        strays.retain(|stray| extras.iter().all(|extra| extra.name != stray.name));
        let late: BTreeSet<String> = accesses
            .iter()
            .flat_map(|(_, access)| access.unfiltered.iter().map(|test| test.text.clone()))
            .collect();
        let all = |tests: for<'a> fn(&'a Access<'m>) -> &'a Vec<String>| -> BTreeSet<String> {
            accesses.iter().flat_map(|(_, access)| tests(access).iter().cloned()).collect()
        };
        let (filters, confirmations) = (all(|access| &access.filter), all(|access| &access.confirmations));
        // `Limit` counts what is read, whatever is dropped afterwards.
        let is_sifted = filters != confirmations || !late.is_empty() || !extras.is_empty();
        let wanted = self.limit(accesses, exact).filter(|_| late.is_empty());
        let limit = wanted.filter(|_| !is_sifted);
        let Amount { items, bytes, bytes_of_targets, max_bytes, found } =
            self.amount(accesses, &extras, is_sifted);
        let step = Step {
            operation,
            location,
            targets: accesses.iter().map(|(_, access)| access.mapping.entity).collect(),
            partition: first.partition.clone(),
            sort,
            forward: !self.pattern.order.as_ref().is_some_and(|order| order.descending),
            limit,
            fan_out: first.fan_out,
            fan_out_basis: first.fan_out_basis,
            alternatives: first.alternatives.clone(),
            filter: filters.into_iter().collect(),
            confirmations: confirmations.into_iter().collect(),
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
        let step = Step { afterwards: self.afterwards(&step, wanted, first.in_turn), ..step };
        let hydration = self.hydration(accesses, &step)?;
        let mut steps: Vec<Step<'m>> = std::iter::once(step).chain(hydration).collect();
        // Where a single item that is read with a list does not exist, the list is longer by one.
        let is_mixed = accesses.iter().any(|(target, _)| !target.many) && accesses.len() > 1;
        if let Some((last, limit)) = steps.last_mut().zip(self.pattern.limit.filter(|_| is_mixed)) {
            last.afterwards.push(Afterwards::KeepOfAll(limit));
        }
        if let Some(last) = steps.last_mut().filter(|_| !late.is_empty()) {
            last.afterwards.push(Afterwards::Drop(late.into_iter().collect()));
            last.afterwards.extend(self.pattern.limit.map(Afterwards::Keep));
        }
        Ok(steps)
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
    fn hydration(
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
            let tested = access.unfiltered.iter().flat_map(|test| test.attributes.iter().map(String::as_str));
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
        let entity = accesses[0].1.mapping.entity;
        let key = |position: usize| entity.key.get(position).cloned();
        let whole = size::item(self.model, entity).value;
        let found = step.found;
        // What the caller tests afterwards may be one of several.
        let one = found.max <= 1.0 && accesses.iter().all(|(_, access)| access.unfiltered.is_empty());
        let bytes = found.average * whole;
        Ok(Some(Step {
            operation: if one { Operation::Get } else { Operation::BatchGet },
            location: TableOrIndex { index: None },
            partition: key(0).unwrap_or_default(),
            sort: key(1).map_or(SortCondition::Any, SortCondition::Equals),
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
            bytes_of_targets: vec![bytes],
            max_bytes: 0.0,
            afterwards: self.arranged(step),
            ..step.clone()
        }))
    }
}
