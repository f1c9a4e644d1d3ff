//! The proof that a pattern is served: which requests, on which keys, or what stands in the way.
//!
//! A pattern's inputs are the values that the caller knows. At every place (the table, each index) the partition key must
//! be made of known values, and the sort key must begin with known values; what follows must be the attribute of the
//! range or of the order. Nothing is tried out: templates alone decide.

use crate::condition::{Condition, Test};
use crate::estimate::{self, Amount};
use crate::model::{Entity, Model, Pattern, Target};
use crate::slot::{Place, Slot};
use crate::template::{Format, Part, SHARD, Template};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Get,
    Query,
    BatchGet,
}

/// The condition on the sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    Any,
    Equals(Template),
    BeginsWith(Template),
    /// `prefix` followed by the attribute's bounds.
    Between {
        prefix: Template,
        by: String,
    },
    /// From one text to another, both included.
    Span {
        from: String,
        to: String,
    },
}

#[derive(Clone, Debug)]
pub struct Step<'m> {
    pub operation: Operation,
    pub place: Place<'m>,
    pub targets: Vec<&'m Entity>,
    pub partition: Template,
    pub sort: Sort,
    pub forward: bool,
    pub limit: Option<u64>,
    /// Requests that read all shards or time buckets.
    pub fan_out: u64,
    /// What is thrown away after the read, attribute by attribute.
    pub filter: Vec<String>,
    /// Types that come along unasked.
    pub extras: Vec<&'m Entity>,
    pub strong: bool,
    pub items: Amount,
    pub bytes: f64,
    pub max_bytes: f64,
}

#[derive(Clone, Debug)]
pub struct Plan<'m> {
    pub steps: Vec<Step<'m>>,
    /// Why several types are not read by one request, if they are not.
    pub split: Option<Split>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// They are not stored together.
    Apart,
    /// A common prefix would also match longer values.
    Ambiguous(String),
    /// Other types lie between them.
    Between(Vec<String>),
    /// The single item sorts at the end that a limited read does not reach.
    WrongEnd { single: String, many: String },
}

/// Why a place does not serve an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Absent,
    Sparse {
        when: String,
    },
    Partition {
        template: String,
        missing: Vec<String>,
        partial: bool,
    },
    NoSortKey {
        wanted: String,
    },
    Range {
        by: String,
        before: Vec<String>,
    },
    Order {
        by: String,
        before: Vec<String>,
    },
    Unsorted {
        by: String,
        template: String,
    },
    Consistency,
    Projection {
        missing: Vec<String>,
    },
    /// Items of several types cannot be brought into one order.
    Interleave {
        by: String,
    },
}

impl Obstacle {
    /// How far the proof came: the further, the more helpful the message.
    fn progress(&self) -> u32 {
        match self {
            Obstacle::Absent => 0,
            Obstacle::Partition { partial: false, .. } => 1,
            Obstacle::Partition { partial: true, .. } => 2,
            Obstacle::Sparse { .. } => 3,
            Obstacle::NoSortKey { .. } => 4,
            Obstacle::Range { .. } | Obstacle::Order { .. } => 5,
            Obstacle::Interleave { .. } => 6,
            Obstacle::Consistency | Obstacle::Projection { .. } => 7,
            Obstacle::Unsorted { .. } => 8,
        }
    }
}

/// Where the proof failed.
#[derive(Clone, Debug)]
pub struct Unserved<'m> {
    pub place: Place<'m>,
    pub entity: &'m Entity,
    pub obstacle: Obstacle,
}

/// Filters, other types, requests, steps: the fewer, the better.
type Rank = (usize, usize, u64, usize);

/// How one entity is reached at one place.
#[derive(Clone, Debug)]
struct Access<'m> {
    slot: Slot<'m>,
    partition: Template,
    sort: Sort,
    /// The beginning of the sort key that is known.
    prefix: Template,
    fan_out: u64,
    filter: Vec<String>,
    /// Fields that the condition fixes.
    fixed: Vec<String>,
}

/// Proves one pattern.
pub fn plan<'m>(model: &'m Model, pattern: &'m Pattern) -> Result<Plan<'m>, Unserved<'m>> {
    Planner { model, pattern }.run()
}

struct Planner<'m> {
    model: &'m Model,
    pattern: &'m Pattern,
}

impl<'m> Planner<'m> {
    fn run(&self) -> Result<Plan<'m>, Unserved<'m>> {
        if let [one] = self.pattern.targets.as_slice() {
            let steps = self.single(one)?;
            return Ok(Plan { steps, split: None });
        }
        let mut split = Split::Apart;
        for place in Place::all(self.model) {
            match self.together(place) {
                Ok(steps) => return Ok(Plan { steps, split: None }),
                Err(Some(reason)) if split == Split::Apart => split = reason,
                Err(_) => {}
            }
        }
        let collections = self.pattern.targets.iter().filter(|target| target.many).count();
        if let Some(order) = self.pattern.order.as_ref().filter(|_| collections > 1) {
            let entity = self.entity(&self.pattern.targets[0]);
            let obstacle = Obstacle::Interleave { by: order.by.clone() };
            return Err(Unserved { place: Place { index: None }, entity, obstacle });
        }
        let mut steps = Vec::new();
        for target in &self.pattern.targets {
            steps.extend(self.single(target)?);
        }
        Ok(Plan { steps, split: Some(split) })
    }

    fn entity(&self, target: &Target) -> &'m Entity {
        let known = self.model.entity(&target.entity);
        known.unwrap_or(&self.model.entities[0])
    }

    /// The cheapest way to one type.
    fn single(&self, target: &Target) -> Result<Vec<Step<'m>>, Unserved<'m>> {
        let entity = self.entity(target);
        let mut best: Option<(Rank, Vec<Step<'m>>)> = None;
        let mut failure: Option<Unserved<'m>> = None;
        for place in Place::all(self.model) {
            match self.access(place, entity).and_then(|access| self.steps(&[(target, access)], None)) {
                Ok(steps) => {
                    let first = &steps[0];
                    let rank = (first.filter.len(), first.extras.len(), first.fan_out, steps.len());
                    if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                        best = Some((rank, steps));
                    }
                }
                Err(obstacle) => {
                    let further = |other: &Unserved<'_>| obstacle.progress() > other.obstacle.progress();
                    if failure.as_ref().is_none_or(further) {
                        failure = Some(Unserved { place, entity, obstacle });
                    }
                }
            }
        }
        let absent = Unserved { place: Place { index: None }, entity, obstacle: Obstacle::Absent };
        best.map(|(_, steps)| steps).ok_or_else(|| failure.unwrap_or(absent))
    }

    /// What the caller's conditions say, inputs included.
    fn condition(&self) -> Condition {
        let mut condition = self.pattern.filter.clone();
        condition.tests.extend(self.pattern.inputs.iter().cloned().map(Test::Exists));
        condition
    }

    /// How an entity is reached at a place.
    fn access(&self, place: Place<'m>, entity: &'m Entity) -> Result<Access<'m>, Obstacle> {
        let slot = place.slot(entity).ok_or(Obstacle::Absent)?;
        if !self.condition().implies(&slot.when) {
            let when = slot.when.to_string();
            return Err(if self.concerns(&slot) { Obstacle::Sparse { when } } else { Obstacle::Absent });
        }
        let constant = |name: &str| {
            let fixed = self.pattern.filter.fixed(name).or_else(|| slot.when.fixed(name));
            fixed.map(str::to_owned)
        };
        let known = |name: &str| self.pattern.is_fixed(name) || slot.when.fixed(name).is_some();
        let (fan_out, mut fixed) = self.partition(&slot, known)?;
        let partition = slot.partition.substitute(constant);
        let (prefix, sort) = self.sort(&slot, known)?;
        fixed.extend(prefix.fields().map(str::to_owned));
        if let Sort::Equals(template) = &sort {
            fixed.extend(template.fields().map(str::to_owned));
        }
        if self.pattern.strong && !place.is_consistent() {
            return Err(Obstacle::Consistency);
        }
        let alone = entity.identity().is_some_and(|id| fixed.iter().any(|own| own == id))
            && entity.versions.is_none();
        // Once the one item is found, further inputs select nothing.
        let used =
            |name: &str| alone || fixed.iter().any(|own| own == name) || slot.when.fixed(name).is_some();
        let mut filter: Vec<String> = self
            .pattern
            .inputs
            .iter()
            .filter(|input| !used(input) && entity.attribute(input).is_some())
            .map(|input| format!("{input} = :{input}"))
            .collect();
        let open = self.pattern.filter.tests.iter().filter(|test| {
            let implied = slot.when.tests.contains(test);
            let consumed = matches!(test, Test::Equals(name, _) if used(name));
            !implied && !consumed && entity.attribute(test.attribute()).is_some()
        });
        filter.extend(open.map(Test::to_string));
        let sort = substitute_sort(sort, constant);
        let prefix = prefix.substitute(constant);
        Ok(Access { slot, partition, sort, prefix, fan_out, filter, fixed })
    }

    /// A sparse entry has to do with what the caller knows: otherwise it is no answer that only lacks a condition.
    fn concerns(&self, slot: &Slot<'m>) -> bool {
        let condition = self.condition();
        let mut known = condition.tests.iter().map(Test::attribute).peekable();
        let tests = |name: &str| slot.when.tests.iter().any(|test| test.attribute() == name);
        known.peek().is_none() || known.any(|name| slot.partition.has_field(name) || tests(name))
    }

    /// The partition key must be known; shards and time buckets are read one after another.
    fn partition(
        &self,
        slot: &Slot<'m>,
        known: impl Fn(&str) -> bool,
    ) -> Result<(u64, Vec<String>), Obstacle> {
        let mut fan_out = 1;
        let (mut fixed, mut missing) = (Vec::new(), Vec::new());
        for part in &slot.partition.parts {
            let Part::Field { name, format } = part else { continue };
            let ordered = self.pattern.order.as_ref().is_some_and(|order| order.by == *name);
            let ranged = self.pattern.range.as_ref().is_some_and(|range| range.by == *name);
            if known(name) {
                fixed.push(name.clone());
            } else if name == SHARD {
                let by = slot.shard.and_then(|shard| shard.by.as_deref());
                if !by.is_some_and(&known) {
                    fan_out *= slot.shards();
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
        Err(Obstacle::Partition { template: slot.partition.to_string(), missing, partial })
    }

    /// Time buckets between the bounds; two if the bounds are unknown.
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

    /// The sort key's known beginning and the condition on it.
    fn sort(&self, slot: &Slot<'m>, known: impl Fn(&str) -> bool) -> Result<(Template, Sort), Obstacle> {
        let range = self.pattern.range.as_ref().filter(|range| slot.entity.attribute(&range.by).is_some());
        let order = self.pattern.order.as_ref().filter(|order| slot.entity.attribute(&order.by).is_some());
        let many = self.pattern.targets.iter().any(|target| target.entity == slot.entity.name && target.many);
        let Some(template) = &slot.sort else {
            let wanted = range.map(|range| &range.by).or(order.map(|order| &order.by).filter(|_| many));
            return match wanted.filter(|wanted| !known(wanted)) {
                Some(wanted) => Err(Obstacle::NoSortKey { wanted: wanted.clone() }),
                None => Ok((Template::default(), Sort::Any)),
            };
        };
        let (prefix, rest) = template.split_known(&known);
        let Some(Part::Field { name: next, format }) = rest.first() else {
            return Ok((prefix.clone(), Sort::Equals(template.clone())));
        };
        let before = || -> Vec<String> {
            let names = rest.iter().filter_map(|part| match part {
                Part::Field { name, .. } => Some(name.clone()),
                Part::Text(_) => None,
            });
            names.collect()
        };
        let sorted = |by: &str| {
            let kind = slot.entity.attribute(by).map(|attribute| &attribute.kind);
            let keeps =
                kind.is_none_or(|kind| format.keeps_order(kind)) || slot.place.key_is_number(self.model, 1);
            if keeps {
                return Ok(());
            }
            Err(Obstacle::Unsorted { by: by.to_owned(), template: template.to_string() })
        };
        if let Some(order) = order.filter(|order| !known(&order.by)) {
            if order.by != *next && !self.follows_time(slot, next, &order.by) {
                return Err(Obstacle::Order { by: order.by.clone(), before: before() });
            }
            sorted(next)?;
        }
        let Some(range) = range.filter(|range| !known(&range.by)) else {
            let sort = if prefix.parts.is_empty() { Sort::Any } else { Sort::BeginsWith(prefix.clone()) };
            return Ok((prefix, sort));
        };
        if range.by != *next {
            return Err(Obstacle::Range { by: range.by.clone(), before: before() });
        }
        sorted(next)?;
        Ok((prefix.clone(), Sort::Between { prefix, by: range.by.clone() }))
    }

    /// A ULID or KSUID of its own sorts by the time at which the item was made.
    fn follows_time(&self, slot: &Slot<'m>, field: &str, by: &str) -> bool {
        let kind = |name: &str| slot.entity.attribute(name).map(|attribute| &attribute.kind);
        let made = ["createdat", "created", "time", "timestamp"].contains(&by.to_lowercase().as_str());
        let own = slot.entity.identity() == Some(field);
        let sortable = matches!(
            kind(field),
            Some(crate::value_type::ValueType::Ulid | crate::value_type::ValueType::Ksuid)
        );
        made && own && sortable && kind(by).is_some_and(crate::value_type::ValueType::is_time)
    }

    /// All types by one request, or why not.
    fn together(&self, place: Place<'m>) -> Result<Vec<Step<'m>>, Option<Split>> {
        let mut accesses = Vec::new();
        for target in &self.pattern.targets {
            let access = self.access(place, self.entity(target)).map_err(|_| None)?;
            accesses.push((target, access));
        }
        let first = &accesses[0].1;
        let agree =
            |access: &Access<'m>| access.partition == first.partition && access.fan_out == first.fan_out;
        if !accesses.iter().all(|(_, access)| agree(access)) || !self.one_order(&accesses) {
            return Err(None);
        }
        self.right_end(&accesses).map_err(Some)?;
        let cover = self.cover(place, &accesses).map_err(Some)?;
        self.steps(&accesses, Some(cover)).map_err(|_| None)
    }

    /// Several collections in one order need the order's attribute behind one common prefix.
    fn one_order(&self, accesses: &[(&Target, Access<'m>)]) -> bool {
        if self.pattern.order.is_none() {
            return true;
        }
        let mut prefixes =
            accesses.iter().filter(|(target, _)| target.many).map(|(_, access)| &access.prefix);
        let first = prefixes.next();
        prefixes.all(|prefix| Some(prefix) == first)
    }

    /// With a limit, single items must stand at the end from which the collection is read.
    fn right_end(&self, accesses: &[(&Target, Access<'m>)]) -> Result<(), Split> {
        let (Some(_), Some(order)) = (self.pattern.limit, &self.pattern.order) else { return Ok(()) };
        let collections: Vec<_> = accesses.iter().filter(|(target, _)| target.many).collect();
        for (single, access) in accesses.iter().filter(|(target, _)| !target.many) {
            for (many, other) in &collections {
                let after = access.prefix.prefix() > other.prefix.prefix();
                if after != order.descending {
                    return Err(Split::WrongEnd { single: single.entity.clone(), many: many.entity.clone() });
                }
            }
        }
        Ok(())
    }

    /// The narrowest sort condition that covers all types and no other.
    fn cover(&self, place: Place<'m>, accesses: &[(&Target, Access<'m>)]) -> Result<Sort, Split> {
        let mut common = accesses[0].1.prefix.clone();
        for (_, access) in &accesses[1..] {
            common = common.common(&access.prefix);
        }
        let keeps_inputs = |kept: &Template| {
            accesses.iter().all(|(_, access)| {
                access.prefix.fields().all(|field| kept.has_field(field) || access.partition.has_field(field))
            })
        };
        let prefix = if common.parts.is_empty() { Sort::Any } else { Sort::BeginsWith(common.clone()) };
        if !keeps_inputs(&common) {
            return Err(Split::Apart);
        }
        if common.ends_inside(accesses[0].1.slot.entity) {
            return Err(Split::Ambiguous(common.to_string()));
        }
        let mut strangers = self.strangers(place, accesses, &prefix);
        if strangers.is_empty() {
            return Ok(prefix);
        }
        if common.fields().next().is_none() {
            let texts = || accesses.iter().map(|(_, access)| access.prefix.prefix());
            let (from, to) = (texts().min().unwrap_or_default(), texts().max().unwrap_or_default());
            if !from.is_empty() {
                let span = Sort::Span { from: from.to_owned(), to: format!("{to}\u{10FFFF}") };
                strangers = self.strangers(place, accesses, &span);
                if strangers.is_empty() {
                    return Ok(span);
                }
            }
        }
        Err(Split::Between(strangers.iter().map(|entity| entity.name.clone()).collect()))
    }

    /// Other types that a condition would return as well.
    fn strangers(
        &self,
        place: Place<'m>,
        accesses: &[(&Target, Access<'m>)],
        sort: &Sort,
    ) -> Vec<&'m Entity> {
        let wanted = |name: &str| accesses.iter().any(|(target, _)| target.entity == name);
        let own = &accesses[0].1;
        let others = place.slots(self.model).into_iter().filter(|slot| !wanted(&slot.entity.name));
        others
            .filter(|slot| {
                let types = own.slot.entity;
                own.partition.meets(types, &slot.partition, slot.entity, false, false)
                    && sort_meets(sort, types, slot)
            })
            .map(|slot| slot.entity)
            .collect()
    }

    /// Turns accesses to one partition into requests.
    fn steps(
        &self,
        accesses: &[(&Target, Access<'m>)],
        cover: Option<Sort>,
    ) -> Result<Vec<Step<'m>>, Obstacle> {
        let (_, first) = &accesses[0];
        let place = first.slot.place;
        let sort = cover.unwrap_or_else(|| first.sort.clone());
        let exact = matches!(sort, Sort::Equals(_)) || first.slot.sort.is_none();
        let operation = if exact && place.index.is_none() && first.fan_out == 1 {
            Operation::Get
        } else {
            Operation::Query
        };
        let extras = match &sort {
            Sort::Equals(_) => Vec::new(),
            sort => self.strangers(place, accesses, sort),
        };
        let single_items = accesses.iter().filter(|(target, _)| !target.many).count() as u64;
        let limit = match self.pattern.limit {
            Some(limit) => Some(limit + if accesses.len() > 1 { single_items } else { 0 }),
            None if operation == Operation::Query
                && !accesses.iter().any(|(target, _)| target.many)
                && extras.is_empty() =>
            {
                (!exact).then_some(single_items)
            }
            None => None,
        };
        let filter: Vec<String> = accesses.iter().flat_map(|(_, access)| access.filter.clone()).collect();
        let (items, bytes, max_bytes) = self.amount(accesses, limit.filter(|_| filter.is_empty()));
        let mut filter = filter;
        filter.sort();
        filter.dedup();
        let step = Step {
            operation,
            place,
            targets: accesses.iter().map(|(_, access)| access.slot.entity).collect(),
            partition: first.partition.clone(),
            sort,
            forward: !self.pattern.order.as_ref().is_some_and(|order| order.descending),
            limit,
            fan_out: first.fan_out,
            filter,
            extras,
            strong: self.pattern.strong,
            items,
            bytes,
            max_bytes,
        };
        let hydration = self.hydration(accesses, &step)?;
        Ok(std::iter::once(step).chain(hydration).collect())
    }

    /// What a read brings: items, bytes usually, bytes at most.
    fn amount(&self, accesses: &[(&Target, Access<'m>)], limit: Option<u64>) -> (Amount, f64, f64) {
        let mut total = Amount { average: 0.0, max: 0.0, known: true };
        let (mut bytes, mut max_bytes) = (0.0, 0.0);
        for (target, access) in accesses {
            let mut amount = estimate::items_at(self.model, &access.slot, &access.fixed);
            if !target.many && access.filter.is_empty() {
                amount = Amount { average: 1.0, max: 1.0, known: true };
            }
            if let Some(limit) = limit {
                amount.average = amount.average.min(limit as f64);
                amount.max = amount.max.min(limit as f64);
            }
            total.average += amount.average;
            total.max += amount.max;
            total.known &= amount.known;
            let each = access.slot.bytes() as f64;
            bytes += amount.average * each;
            max_bytes += amount.max * each;
        }
        (total, bytes, max_bytes)
    }

    /// A second read from the table for what the index does not hold.
    fn hydration(
        &self,
        accesses: &[(&Target, Access<'m>)],
        step: &Step<'m>,
    ) -> Result<Option<Step<'m>>, Obstacle> {
        let mut missing = Vec::new();
        for (_, access) in accesses {
            let available = access.slot.available();
            let entity = access.slot.entity;
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
        let entity = accesses[0].1.slot.entity;
        let key = |position: usize| entity.key.get(position).cloned();
        let whole = entity.bytes() as f64;
        let one = step.items.max <= 1.0;
        Ok(Some(Step {
            operation: if one { Operation::Get } else { Operation::BatchGet },
            place: Place { index: None },
            partition: key(0).unwrap_or_default(),
            sort: key(1).map_or(Sort::Any, Sort::Equals),
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

fn substitute_sort(sort: Sort, constant: impl Fn(&str) -> Option<String>) -> Sort {
    match sort {
        Sort::Equals(template) => Sort::Equals(template.substitute(constant)),
        Sort::BeginsWith(template) => Sort::BeginsWith(template.substitute(constant)),
        Sort::Between { prefix, by } => Sort::Between { prefix: prefix.substitute(constant), by },
        other => other,
    }
}

/// Whether items of a slot can lie within a sort condition.
pub fn sort_meets(sort: &Sort, types: &Entity, slot: &Slot<'_>) -> bool {
    let Some(template) = &slot.sort else { return matches!(sort, Sort::Any) };
    match sort {
        Sort::Any => true,
        Sort::Equals(wanted) => wanted.meets(types, template, slot.entity, false, false),
        Sort::BeginsWith(prefix) => prefix.meets(types, template, slot.entity, false, true),
        Sort::Between { prefix, by } => {
            let field = Template::field(by);
            let open = Template { parts: [prefix.parts.clone(), field.parts].concat() };
            open.meets(types, template, slot.entity, false, true)
        }
        Sort::Span { from, to } => {
            let text = template.prefix();
            let above = text >= from.as_str() || from.starts_with(text);
            above && text <= to.as_str()
        }
    }
}

impl Step<'_> {
    pub fn units(&self) -> f64 {
        let requests = if self.operation == Operation::BatchGet {
            self.items.average.max(1.0)
        } else {
            self.fan_out as f64
        };
        let each = self.bytes / requests;
        estimate::read_units(each, self.strong) * requests
    }

    pub fn pages(&self) -> f64 {
        (self.max_bytes / estimate::PAGE_BYTES).ceil().max(1.0)
    }
}

impl Plan<'_> {
    pub fn requests(&self) -> u64 {
        self.steps.iter().map(|step| step.fan_out).sum()
    }

    pub fn units(&self) -> f64 {
        self.steps.iter().map(Step::units).sum()
    }
}

/// Every pattern's plan, by name.
pub fn plans(model: &Model) -> BTreeMap<&str, Result<Plan<'_>, Unserved<'_>>> {
    model.patterns.iter().map(|pattern| (pattern.name.as_str(), plan(model, pattern))).collect()
}
