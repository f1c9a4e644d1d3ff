//! A declared Scan: it reads all that the table or an index holds, in no order; its filter drops items after the read.

use super::access::Access;
use super::afterwards::Afterwards;
use super::amount::share;
use super::requests::united;
use super::requirement::Requirement;
use super::{Operation, Plan, Planner, SortCondition, Step, Unserved};
use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::contents::contents;
use crate::capacity::estimate::{self, ItemCount};
use crate::capacity::size;
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::MAX_NAMED;
use crate::model::condition::Condition;
use crate::model::{Entity, Model, Pattern, Target};
use crate::template::Template;
use std::collections::BTreeMap;

/// A Scan that a pattern declares.
pub(super) struct Scan<'k, 'm> {
    location: TableOrIndex<'m>,
    /// Its filter.
    filter: &'k Condition,
}

impl<'k, 'm> Scan<'k, 'm> {
    /// The Scan of a pattern, if it declares one.
    pub fn of(model: &'m Model, pattern: &'k Pattern) -> Option<Scan<'k, 'm>> {
        let request = pattern.request.as_ref().filter(|request| request.scan && pattern.via.is_empty())?;
        let index = request.index.as_deref().map(|name| model.index(name));
        let location = TableOrIndex { index: index.map_or(Some(None), |index| index.map(Some))? };
        Some(Scan { location, filter: &request.filter })
    }

    /// Returns whether its filter sees to a requirement.
    fn sees_to(&self, requirement: &Requirement, entity: &Entity) -> bool {
        match requirement {
            Requirement::Input(name) => self.filter.conjuncts().contains(&&Condition::equals_input(name)),
            Requirement::Condition(part) => self.filter.implies(part, entity),
            Requirement::Range(by) => self.filter.mentions(by),
        }
    }
}

impl<'m> Planner<'_, 'm> {
    /// The plan of a declared Scan.
    pub(super) fn scan(&self, scan: &Scan<'_, 'm>) -> Result<Plan<'m>, Unserved<'m>> {
        let location = scan.location;
        let mut accesses = Vec::new();
        for target in &self.pattern.targets {
            let entity = self.entity(target);
            self.answerable(target, entity)?;
            let access = self.access_without_key(location, entity);
            accesses.push((target, access.map_err(|obstacle| Unserved { location, entity, obstacle })?));
        }
        let mut step = self.scan_step(scan, &accesses);
        let works = self.after_scan(&accesses, &step);
        let entity = step.targets[0];
        let completing = self.hydration(&accesses, &step);
        let completing = completing.map_err(|obstacle| Unserved { location, entity, obstacle })?;
        let steps = match completing {
            Some(last) => vec![step, Step { afterwards: works, ..last }],
            None => {
                step.afterwards.extend(works);
                vec![step]
            }
        };
        Ok(Plan { steps, split: None, is_declared: true })
    }

    fn scan_step(&self, scan: &Scan<'_, 'm>, accesses: &[(&Target, Access<'m>)]) -> Step<'m> {
        let all = self.keys.mappings(scan.location).iter().map(|mapping| mapping.entity);
        let is_wanted = |entity: &Entity| accesses.iter().any(|(target, _)| target.entity == entity.name);
        let extras: Vec<&'m Entity> = all.filter(|entity| !is_wanted(entity)).take(MAX_NAMED).collect();
        // An item that lacks what another entity is tested by must not be dropped.
        let is_sent = |requirement: &Requirement| {
            let mut every = accesses.iter().map(|(_, access)| access);
            every.all(|own| own.filter.contains(requirement) && scan.sees_to(requirement, own.mapping.entity))
        };
        let mut filter = united(accesses, |access| &access.filter);
        filter.retain(is_sent);
        let items: Vec<ItemCount> =
            accesses.iter().map(|(_, access)| estimate::items_at(self.model, &access.mapping, &[])).collect();
        let each = accesses.iter().zip(&items);
        let bytes_of_targets = each
            .clone()
            .map(|((_, access), items)| items.average * size::entry(self.model, &access.mapping).value);
        let found = each.map(|((target, access), items)| match target.many {
            true => self.left_by_inputs(access, *items),
            false => ItemCount::one(),
        });
        let whole = contents(self.model, scan.location);
        let step = Step {
            operation: Operation::Scan,
            location: scan.location,
            targets: accesses.iter().map(|(_, access)| access.mapping.entity).collect(),
            partition: Template::default(),
            sort: SortCondition::Any,
            forward: true,
            limit: None,
            fan_out: 1.0,
            fan_out_basis: Basis::Declared,
            alternatives: BTreeMap::new(),
            filter,
            confirmations: Vec::new(),
            extras,
            strays: Vec::new(),
            strong: self.pattern.strong,
            items: ItemCount::exactly(whole.items),
            bytes: whole.bytes.value,
            bytes_of_targets: bytes_of_targets.collect(),
            max_bytes: whole.bytes.value,
            found: found.reduce(ItemCount::plus).unwrap_or_else(ItemCount::one),
            follow: None,
            afterwards: Vec::new(),
        };
        match self.pattern.limit.filter(|_| self.takes_the_first(accesses, &step)) {
            Some(limit) => self.limited(step, limit, scan),
            None => step,
        }
    }

    /// Returns whether the first items that a Scan finds are enough: nothing is sorted, or dropped by the caller.
    fn takes_the_first(&self, accesses: &[(&Target, Access<'m>)], step: &Step<'m>) -> bool {
        let is_whole = accesses.iter().all(|(target, _)| target.many);
        is_whole && self.pattern.order.is_none() && left_to_caller(accesses, step).is_empty()
    }

    /// The Scan that ends with so many items. `Limit` counts those that are read, so that it is sent only where all of them are wanted.
    fn limited(&self, step: Step<'m>, limit: u64, scan: &Scan<'_, 'm>) -> Step<'m> {
        let most = Estimate::declared(limit as f64);
        let found = step.found.at_most(most);
        let has_markers = self.model.entities.iter().any(|entity| !entity.unique.is_empty());
        let is_of_index = scan.location.index.is_some();
        if !scan.filter.is_empty() || !step.extras.is_empty() || (has_markers && !is_of_index) {
            return Step { found, afterwards: vec![Afterwards::Continue(limit)], ..step };
        }
        let items = step.items.at_most(most);
        let read = share(items.average, step.items.average);
        Step {
            limit: Some(limit),
            items,
            bytes: step.bytes * read,
            bytes_of_targets: step.bytes_of_targets.iter().map(|bytes| bytes * read).collect(),
            max_bytes: step.max_bytes * read,
            found,
            ..step
        }
    }

    /// What the caller does with all that a Scan has found.
    fn after_scan(&self, accesses: &[(&Target, Access<'m>)], step: &Step<'m>) -> Vec<Afterwards> {
        let mut works = Vec::new();
        let left = left_to_caller(accesses, step);
        works.extend((!left.is_empty()).then_some(Afterwards::Drop(left)));
        works.extend(
            self.pattern
                .order
                .as_ref()
                .map(|order| Afterwards::Sort { by: order.by.clone(), descending: order.descending }),
        );
        let is_chosen = self.pattern.order.is_some() && accesses.iter().all(|(target, _)| !target.many);
        let most = if is_chosen { Some(1) } else { self.pattern.limit };
        let keep = if accesses.len() > 1 { Afterwards::KeepOfAll } else { Afterwards::Keep };
        works.extend(most.filter(|_| step.wanted().is_none()).map(keep));
        works
    }
}

/// What the filter of a Scan does not see to.
fn left_to_caller(accesses: &[(&Target, Access<'_>)], step: &Step<'_>) -> Vec<Requirement> {
    let mut all = united(accesses, |access| &access.filter);
    all.extend(united(accesses, |access| &access.unfiltered));
    all.retain(|requirement| !step.filter.contains(requirement));
    all
}
