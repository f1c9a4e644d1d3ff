//! The plan of a pattern: the requests that serve it and the keys they use, or the obstacle.
//!
//! A pattern's inputs are the values that the caller knows. In the table or an index, the partition key must consist of known values and
//! the sort key must start with known values; what follows must be the attribute of the range or of the order. The templates alone decide:
//! nothing is executed.

mod access;
pub mod afterwards;
mod amount;
pub(crate) mod answerable;
pub mod bounds;
mod buckets;
pub(crate) mod declared;
pub mod follow;
mod held_parts;
pub(crate) mod needed;
mod obstacle;
mod requests;
pub mod requirement;
mod scan;
pub mod scatter;
mod shards;
mod sort_condition;
mod sort_key;
pub mod text_range;
mod together;
pub mod trial;

use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::contents::contents;
use crate::capacity::estimate::{self, ItemCount};
use crate::capacity::size;
use crate::item::Attributes;
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::Keyspace;
use crate::model::{Entity, Model, Pattern, Request, Target};
use crate::template::{SHARD, Template};
use afterwards::Afterwards;
use declared::Declared;
use follow::Follow;
pub use obstacle::{Obstacle, Unserved};
use requirement::Requirement;
use scan::Scan;
pub use sort_condition::{SortCondition, sort_overlaps};
use std::collections::{BTreeMap, BTreeSet};
pub use together::SplitReason;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// GetItem.
    Get,
    /// Query.
    Query,
    /// BatchGetItem.
    BatchGet,
    /// Scan.
    Scan,
}

impl Operation {
    /// Returns the name of the operation in the API.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Get => "GetItem",
            Operation::Query => "Query",
            Operation::BatchGet => "BatchGetItem",
            Operation::Scan => "Scan",
        }
    }

    /// Returns whether it reads items by their whole keys.
    pub fn is_by_key(self) -> bool {
        matches!(self, Operation::Get | Operation::BatchGet)
    }
}

/// One kind of request of a plan.
#[derive(Clone, Debug)]
pub struct Step<'m> {
    /// The operation.
    pub operation: Operation,
    /// The table or index that it reads.
    pub location: TableOrIndex<'m>,
    /// The entities that it returns.
    pub targets: Vec<&'m Entity>,
    /// The partition key.
    pub partition: Template,
    /// The condition on the sort key.
    pub sort: SortCondition,
    /// Whether it reads in ascending order.
    pub forward: bool,
    /// The `Limit` of the request; none where many items are dropped after the read.
    pub limit: Option<u64>,
    /// The number of requests that read all shards, time buckets or batches, for each item that is followed; an expected number need not be whole.
    pub fan_out: f64,
    /// What that number rests on.
    pub fan_out_basis: Basis,
    /// The fields for each of whose values there is a request, and the values.
    pub alternatives: BTreeMap<String, Vec<String>>,
    /// What drops items after the read.
    pub filter: Vec<Requirement>,
    /// Those of them that the key condition sees to already, but for texts that contain what follows them in the key or differ in case.
    pub confirmations: Vec<Requirement>,
    /// Other entities that the request returns as well; some of them if they are many.
    pub extras: Vec<&'m Entity>,
    /// Further entities whose items it returns if a text in their keys contains the delimiter.
    pub strays: Vec<&'m Entity>,
    /// Whether the read is strongly consistent.
    pub strong: bool,
    /// The number of items read.
    pub items: ItemCount,
    /// The average number of bytes read.
    pub bytes: f64,
    /// How many of them are items of each target, in the order of `targets`.
    pub bytes_of_targets: Vec<f64>,
    /// The largest number of bytes read; where an item is followed, by the requests for one item.
    pub max_bytes: f64,
    /// The number of items that are left for the caller, which later steps follow or complete.
    pub found: ItemCount,
    /// How the items are found, if an earlier step leads to them.
    pub follow: Option<Follow<'m>>,
    /// What the caller does with the items, in order.
    pub afterwards: Vec<Afterwards>,
}

/// The requests that serve a pattern.
#[derive(Clone, Debug)]
pub struct Plan<'m> {
    /// The requests, in order.
    pub steps: Vec<Step<'m>>,
    /// Why several entities are not read by one request, if they are not.
    pub split: Option<SplitReason>,
    /// Whether the first step is the request that the pattern declares.
    is_declared: bool,
}

/// What speaks against steps that serve a pattern: less is better, and what comes first decides first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// A partition is read that no input selects.
    is_list: bool,
    /// Filters on several items.
    wasteful: usize,
    /// Other entities that are returned.
    extras: usize,
    requests: u64,
    steps: usize,
    /// Filters on one item.
    filters: usize,
}

impl Rank {
    /// Returns whether items are read only to be dropped.
    fn is_wasteful(&self) -> bool {
        self.is_list || self.wasteful > 0
    }
}

/// Returns the number of time buckets between two times, both included, for buckets that keep `length` characters of a time.
pub fn buckets_between(from: &str, to: &str, length: usize) -> Option<u64> {
    buckets::count(from, to, length)
}

/// Plans one pattern.
///
/// # Errors
///
/// Returns the obstacle if no key serves the pattern.
pub fn plan<'m>(keys: &Keyspace<'m>, pattern: &Pattern) -> Result<Plan<'m>, Unserved<'m>> {
    let planner = Planner::new(keys, pattern);
    if pattern.via.is_empty() { planner.run() } else { planner.follow() }
}

struct Planner<'k, 'm> {
    model: &'m Model,
    keys: &'k Keyspace<'m>,
    pattern: &'k Pattern,
    /// The request that it declares.
    declared: Option<Declared<'m>>,
}

impl<'k, 'm> Planner<'k, 'm> {
    fn new(keys: &'k Keyspace<'m>, pattern: &'k Pattern) -> Planner<'k, 'm> {
        Planner { model: keys.model, keys, pattern, declared: Declared::of(keys.model, pattern) }
    }
}

impl<'m> Planner<'_, 'm> {
    fn run(&self) -> Result<Plan<'m>, Unserved<'m>> {
        if let Some(scan) = Scan::of(self.model, self.pattern) {
            return self.scan(&scan);
        }
        let is_declared = self.declared.is_some();
        if let [one] = self.pattern.targets.as_slice() {
            let (_, steps) = self.single(one)?;
            return Ok(Plan { steps, split: None, is_declared });
        }
        let mut split = SplitReason::Separate;
        let mut together: Option<(Rank, Vec<Step<'m>>)> = None;
        for location in self.locations() {
            match self.together(location) {
                Ok(steps) => {
                    let rank = self.rank(&steps);
                    if together.as_ref().is_none_or(|(other, _)| rank < *other) {
                        together = Some((rank, steps));
                    }
                }
                Err(Some(reason)) if split == SplitReason::Separate => split = reason,
                Err(_) => {}
            }
        }
        let Some((rank, steps)) = together else {
            return self.separately(split).map(|(_, plan)| plan);
        };
        // One request that reads much only to drop it is worse than several that do not.
        if rank.is_wasteful()
            && !is_declared
            && let Ok((other, plan)) = self.separately(split)
            && !other.is_wasteful()
        {
            return Ok(plan);
        }
        Ok(Plan { steps, split: None, is_declared })
    }

    /// Reads several entities by requests of their own; the rank is that of the worst of them.
    fn separately(&self, split: SplitReason) -> Result<(Rank, Plan<'m>), Unserved<'m>> {
        let collections = self.pattern.targets.iter().filter(|target| target.many).count();
        if let Some(order) = self.pattern.order.as_ref().filter(|_| collections > 1) {
            let entity = self.entity(&self.pattern.targets[0]);
            let obstacle = Obstacle::Interleave { by: order.by.clone() };
            return Err(Unserved { location: TableOrIndex { index: None }, entity, obstacle });
        }
        let singles = self.pattern.targets.iter().map(|target| self.single(target));
        let (ranks, steps): (Vec<Rank>, Vec<Vec<Step<'m>>>) =
            singles.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let mut steps = steps.concat();
        if let Some((last, limit)) = steps.last_mut().zip(self.pattern.limit).filter(|_| collections > 1) {
            last.afterwards.push(Afterwards::KeepOfAll(limit));
        }
        let rank = ranks.into_iter().max().unwrap_or_default();
        Ok((rank, Plan { steps, split: Some(split), is_declared: false }))
    }

    /// The table and the indexes, or where the declared request reads.
    fn locations(&self) -> Vec<TableOrIndex<'m>> {
        match &self.declared {
            Some(declared) => vec![declared.location],
            None => self.keys.locations().collect(),
        }
    }

    fn entity(&self, target: &Target) -> &'m Entity {
        let known = self.model.entity(&target.entity);
        known.unwrap_or(&self.model.entities[0])
    }

    /// The cheapest plan for one entity.
    fn single(&self, target: &Target) -> Result<(Rank, Vec<Step<'m>>), Unserved<'m>> {
        let entity = self.entity(target);
        self.answerable(target, entity)?;
        let mut best: Option<(Rank, Vec<Step<'m>>)> = None;
        let mut failure: Option<Unserved<'m>> = None;
        for location in self.locations() {
            match self.access(location, entity).and_then(|access| self.steps(&[(target, access)], None)) {
                Ok(steps) => {
                    let rank = self.rank(&steps);
                    if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                        best = Some((rank, steps));
                    }
                }
                Err(obstacle) => {
                    let further = |other: &Unserved<'_>| obstacle.progress() > other.obstacle.progress();
                    if failure.as_ref().is_none_or(further) {
                        failure = Some(Unserved { location, entity, obstacle });
                    }
                }
            }
        }
        let absent = Unserved { location: TableOrIndex { index: None }, entity, obstacle: Obstacle::Absent };
        best.ok_or_else(|| failure.unwrap_or(absent))
    }

    fn rank(&self, steps: &[Step<'m>]) -> Rank {
        let first = &steps[0];
        // Where no value selects an item, one is a number that is expected and may grow.
        let is_one = first.items.max <= 1.0 && first.is_selected();
        let late: Vec<&Requirement> = steps[1..].iter().flat_map(Step::dropped).collect();
        let early = if is_one { 0 } else { first.wasteful_requirements().count() };
        let wasteful = if is_one { 0 } else { early + late.len() };
        let is_found = is_one || self.pattern.inputs.iter().any(|input| first.partition.has_field(input));
        let mut dropped = first.filter.iter().chain(late);
        let is_list = !is_found && dropped.any(|requirement| matches!(requirement, Requirement::Input(_)));
        Rank {
            is_list,
            wasteful,
            extras: first.extras.len(),
            requests: first.fan_out as u64,
            steps: steps.len(),
            filters: first.filter.len() - early,
        }
    }
}

impl<'m> Step<'m> {
    /// Returns the step once for each key that it reads by: items of several entities that are completed from the table have keys of their own.
    pub fn by_key(&self) -> Vec<Step<'m>> {
        if !self.operation.is_by_key() || self.targets.len() < 2 {
            return vec![self.clone()];
        }
        let of_entity = |entity: &&'m Entity| {
            let (partition, sort) = primary_key(entity);
            Step { targets: vec![*entity], partition, sort, ..self.clone() }
        };
        self.targets.iter().map(of_entity).collect()
    }
}

/// The key by which an item of an entity is read from the table.
fn primary_key(entity: &Entity) -> (Template, SortCondition) {
    let mut key = entity.key.iter().cloned();
    let partition = key.next().unwrap_or_default();
    (partition, key.next().map_or(SortCondition::Any, SortCondition::Equals))
}

impl Step<'_> {
    /// Returns whether it reads from the table what the index of the step before lacks.
    pub fn completes(&self, before: &Step<'_>) -> bool {
        let same = self.targets.iter().zip(&before.targets).all(|(own, other)| own.name == other.name);
        self.operation.is_by_key() && before.location.index.is_some() && same
    }

    /// Returns the conditions of one of the requests: the first value of each alternative, and the shard that follows from them.
    pub fn first_clauses(&self) -> Vec<(usize, SortCondition)> {
        let firsts =
            self.alternatives.iter().filter_map(|(name, all)| Some((name.clone(), all.first()?.clone())));
        let firsts: Attributes = firsts.collect();
        let mut shards = if firsts.is_empty() { Vec::new() } else { self.shards_of(&firsts) };
        let shard = if shards.len() == 1 { shards.pop() } else { None };
        let first = |name: &str| {
            let own = firsts.get(name);
            own.or_else(|| shard.as_ref().filter(|_| name == SHARD)).cloned()
        };
        let mut clauses = self.clauses();
        for (_, clause) in &mut clauses {
            if let Some(template) = clause.template() {
                *clause = clause.with(template.substitute(first));
            }
        }
        clauses
    }

    /// Returns the condition on each key attribute by position; all but the last are equalities.
    pub fn clauses(&self) -> Vec<(usize, SortCondition)> {
        if self.operation == Operation::Scan {
            return Vec::new();
        }
        let mut clauses: Vec<SortCondition> =
            self.partition.attributes().into_iter().map(SortCondition::Equals).collect();
        let pieces = match (&self.sort, self.sort.template()) {
            (SortCondition::Any, _) => Vec::new(),
            (_, Some(template)) => template.attributes(),
            (_, None) => vec![Template::default()],
        };
        let count = pieces.len();
        clauses.extend(pieces.into_iter().enumerate().map(|(number, piece)| {
            if number + 1 < count { SortCondition::Equals(piece) } else { self.sort.with(piece) }
        }));
        // A prefix that ends at a separator does not constrain the attribute after it.
        clauses
            .retain(|clause| !matches!(clause, SortCondition::BeginsWith(piece) if piece.parts.is_empty()));
        clauses.into_iter().enumerate().collect()
    }

    /// Returns whether values that the caller knows are in the key condition.
    fn is_selected(&self) -> bool {
        let sort = self.sort.template();
        self.partition.fields().chain(sort.into_iter().flat_map(Template::fields)).next().is_some()
    }

    /// Returns whether the key condition needs the value of an attribute.
    pub fn uses(&self, attribute: &str) -> bool {
        self.partition.has_field(attribute) || self.clauses().iter().any(|(_, sort)| sort.uses(attribute))
    }

    /// Returns what drops more than lies at the ends of a range, or than the key condition drops already.
    pub fn wasteful_requirements(&self) -> impl Iterator<Item = &Requirement> {
        let range = match &self.sort {
            SortCondition::Between { by, .. } => Some(Requirement::Range(by.clone())),
            _ => None,
        };
        let confirmed: BTreeSet<&Requirement> = self.confirmations.iter().collect();
        let wasteful = self.filter.iter().filter(move |requirement| !confirmed.contains(requirement));
        wasteful.filter(move |requirement| Some(*requirement) != range.as_ref())
    }

    /// Returns the filter as text.
    pub fn filter_texts(&self) -> Vec<String> {
        self.filter.iter().map(ToString::to_string).collect()
    }

    /// Returns the read units of the step.
    pub fn units(&self) -> f64 {
        let requests =
            if self.operation == Operation::BatchGet { self.items.average.max(1.0) } else { self.fan_out };
        let each = self.bytes / requests;
        estimate::read_units(each, self.strong) * requests
    }

    /// Returns what the units of the step rest on: the number of items, and their size.
    pub fn basis(&self, model: &Model) -> Basis {
        if self.operation == Operation::Scan {
            return contents(model, self.location).bytes.basis;
        }
        let mappings = self.targets.iter().filter_map(|entity| self.location.mapping(entity));
        let sizes = mappings.map(|mapping| size::entry(model, &mapping).basis);
        sizes.fold(self.items.basis.and(self.fan_out_basis).and(Basis::Derived), Basis::and)
    }

    /// Returns the largest number of pages of all results together, at least one for each request. A page ends with the item that fills it, so
    /// that the last page can be empty.
    pub fn pages(&self) -> f64 {
        let requests = if self.follow.is_some() { 1.0 } else { self.fan_out.max(1.0) };
        requests + (self.max_bytes / estimate::PAGE_BYTES).floor()
    }

    /// Returns the largest number of pages of one of the requests.
    pub fn pages_of_one(&self) -> f64 {
        1.0 + (self.max_bytes / estimate::PAGE_BYTES).floor()
    }

    /// Returns how many items the caller reads at most from each request, if the pattern has a limit.
    pub fn wanted(&self) -> Option<u64> {
        let sifted = self.afterwards.iter().find_map(|work| match work {
            Afterwards::Continue(number) => Some(*number),
            _ => None,
        });
        self.limit.or(sifted)
    }
}

impl<'m> Plan<'m> {
    /// Returns the declared request of a pattern, if it is the step with this number.
    pub fn declared<'p>(&self, pattern: &'p Pattern, number: usize) -> Option<&'p Request> {
        pattern.request.as_ref().filter(|_| self.is_declared && number == 0)
    }

    /// Returns the steps that search, each with the requirements that are left until the next one has read what its index lacks: before that,
    /// nothing is dropped.
    pub fn sifted_steps(&self) -> impl Iterator<Item = Step<'m>> {
        let nexts = self.steps.iter().skip(1).map(Some).chain([None]);
        let searching =
            self.steps.iter().zip(nexts).filter(|(step, _)| step.operation != Operation::BatchGet);
        searching.map(|(step, next)| {
            let completing = next.filter(|next| next.completes(step)).into_iter();
            let late = completing.flat_map(Step::dropped);
            Step { filter: step.filter.iter().chain(late).cloned().collect(), ..step.clone() }
        })
    }

    /// Returns the expected number of requests, which need not be whole.
    pub fn requests(&self) -> f64 {
        self.steps.iter().map(|step| step.fan_out).sum()
    }

    /// Returns the number of requests, and what it rests on.
    pub fn expected_requests(&self) -> Estimate {
        let basis = self.steps.iter().map(|step| step.fan_out_basis).max().unwrap_or_default();
        Estimate::new(self.requests(), basis)
    }

    /// Returns the read units of all steps.
    pub fn units(&self) -> f64 {
        self.steps.iter().map(Step::units).sum()
    }

    /// Returns what the read units rest on.
    pub fn basis(&self, model: &Model) -> Basis {
        self.steps.iter().map(|step| step.basis(model)).max().unwrap_or_default()
    }
}

/// Plans every pattern of a model; returns the plans by name.
pub fn plans<'m>(keys: &Keyspace<'m>) -> BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>> {
    keys.model.patterns.iter().map(|pattern| (pattern.name.as_str(), plan(keys, pattern))).collect()
}
