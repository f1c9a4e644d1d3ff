//! Turns accesses into requests: the operation, the limit, the amount read, and what must be read from the table afterwards.

use super::access::Access;
use super::{Obstacle, Operation, Planner, SortCondition, Step};
use crate::capacity::estimate::{self, ItemCount};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Target;
use std::collections::BTreeSet;

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
        let extras = match &sort {
            SortCondition::Equals(_) => Vec::new(),
            sort => self.other_types(location, accesses, sort),
        };
        let limit = self.limit(accesses, exact || !extras.is_empty());
        let filters: BTreeSet<String> =
            accesses.iter().flat_map(|(_, access)| access.filter.iter().cloned()).collect();
        let (items, bytes, max_bytes) = self.amount(accesses, limit.filter(|_| filters.is_empty()));
        let step = Step {
            operation,
            location,
            targets: accesses.iter().map(|(_, access)| access.mapping.entity).collect(),
            partition: first.partition.clone(),
            sort,
            forward: !self.pattern.order.as_ref().is_some_and(|order| order.descending),
            limit,
            fan_out: first.fan_out,
            filter: filters.into_iter().collect(),
            extras,
            strong: self.pattern.strong,
            items,
            bytes,
            max_bytes,
        };
        let hydration = self.hydration(accesses, &step)?;
        Ok(std::iter::once(step).chain(hydration).collect())
    }

    /// The declared limit, raised by the single items that are read with a list. Without one, single items need no more than their number,
    /// unless the request is exact or also returns others.
    fn limit(&self, accesses: &[(&Target, Access<'m>)], is_unlimited: bool) -> Option<u64> {
        let single_items = accesses.iter().filter(|(target, _)| !target.many).count();
        match self.pattern.limit {
            Some(limit) if accesses.len() > 1 => Some(limit + single_items as u64),
            Some(limit) => Some(limit),
            None => (single_items == accesses.len() && !is_unlimited).then_some(single_items as u64),
        }
    }

    /// The items, the average bytes and the maximum bytes that a read returns.
    fn amount(&self, accesses: &[(&Target, Access<'m>)], limit: Option<u64>) -> (ItemCount, f64, f64) {
        let mut total = ItemCount { average: 0.0, max: 0.0, known: true };
        let (mut bytes, mut max_bytes) = (0.0, 0.0);
        for (target, access) in accesses {
            let mut amount = estimate::items_at(self.model, &access.mapping, &access.fixed);
            if !target.many && access.filter.is_empty() {
                amount = ItemCount { average: 1.0, max: 1.0, known: true };
            }
            if let Some(limit) = limit {
                amount.average = amount.average.min(limit as f64);
                amount.max = amount.max.min(limit as f64);
            }
            total.average += amount.average;
            total.max += amount.max;
            total.known &= amount.known;
            let each = access.mapping.bytes() as f64;
            bytes += amount.average * each;
            max_bytes += amount.max * each;
        }
        (total, bytes, max_bytes)
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
            missing.extend(wanted.into_iter().filter(|name| !available.contains(name)).map(str::to_owned));
        }
        if missing.is_empty() {
            return Ok(None);
        }
        if !self.pattern.hydrate {
            return Err(Obstacle::Projection { missing });
        }
        let entity = accesses[0].1.mapping.entity;
        let key = |position: usize| entity.key.get(position).cloned();
        let whole = entity.bytes() as f64;
        let one = step.items.max <= 1.0;
        Ok(Some(Step {
            operation: if one { Operation::Get } else { Operation::BatchGet },
            location: TableOrIndex { index: None },
            partition: key(0).unwrap_or_default(),
            sort: key(1).map_or(SortCondition::Any, SortCondition::Equals),
            limit: None,
            fan_out: (step.items.average / 100.0).ceil().max(1.0) as u64,
            filter: Vec::new(),
            extras: Vec::new(),
            bytes: step.items.average * whole,
            max_bytes: 0.0,
            ..step.clone()
        }))
    }
}
