//! The proof that a pattern is served: which requests, on which keys, or what stands in the way.
//!
//! A pattern's inputs are the values that the caller knows. At every location (the table, each index) the partition key must
//! be made of known values, and the sort key must begin with known values; what follows must be the attribute of the
//! range or of the order. Nothing is tried out: templates alone decide.

mod access;
mod requests;
mod together;

use crate::capacity::estimate::{self, ItemCount};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::keyspace::Keyspace;
use crate::model::condition::Condition;
use crate::model::{Entity, Model, Pattern, Target};
use crate::template::Template;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Get,
    Query,
    BatchGet,
}

/// The condition on the sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortCondition {
    Any,
    Equals(Template),
    BeginsWith(Template),
    /// `prefix` followed by the attribute's bounds.
    Between {
        prefix: Template,
        by: String,
    },
    /// From one text to another, both included.
    Range {
        from: String,
        to: String,
    },
}

#[derive(Clone, Debug)]
pub struct Step<'m> {
    pub operation: Operation,
    pub location: TableOrIndex<'m>,
    pub targets: Vec<&'m Entity>,
    pub partition: Template,
    pub sort: SortCondition,
    pub forward: bool,
    pub limit: Option<u64>,
    /// Requests that read all shards or time buckets.
    pub fan_out: u64,
    /// What is thrown away after the read, attribute by attribute.
    pub filter: Vec<String>,
    /// FieldTypes that come along unasked; of many, some.
    pub extras: Vec<&'m Entity>,
    pub strong: bool,
    pub items: ItemCount,
    pub bytes: f64,
    pub max_bytes: f64,
}

#[derive(Clone, Debug)]
pub struct Plan<'m> {
    pub steps: Vec<Step<'m>>,
    /// Why several types are not read by one request, if they are not.
    pub split: Option<SplitReason>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitReason {
    /// They are not stored together.
    Separate,
    /// A common prefix would also match longer values.
    AmbiguousPrefix(String),
    /// Other types lie between them.
    OthersBetween(Vec<String>),
    /// The single item sorts at the end that a limited read does not reach.
    OppositeEnd { single: String, many: String },
}

/// Why a location does not serve an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Absent,
    Sparse {
        when: Condition,
    },
    Partition {
        template: Template,
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
        template: Template,
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
    pub location: TableOrIndex<'m>,
    pub entity: &'m Entity,
    pub obstacle: Obstacle,
}

/// Filters, other types, requests, steps: the fewer, the better.
type Rank = (usize, usize, u64, usize);

/// Proves one pattern of the model whose keys these are.
pub fn plan<'m>(keys: &Keyspace<'m>, pattern: &'m Pattern) -> Result<Plan<'m>, Unserved<'m>> {
    Planner { model: keys.model, keys, pattern }.run()
}

struct Planner<'k, 'm> {
    model: &'m Model,
    keys: &'k Keyspace<'m>,
    pattern: &'m Pattern,
}

impl<'m> Planner<'_, 'm> {
    fn run(&self) -> Result<Plan<'m>, Unserved<'m>> {
        if let [one] = self.pattern.targets.as_slice() {
            let steps = self.single(one)?;
            return Ok(Plan { steps, split: None });
        }
        let mut split = SplitReason::Separate;
        for location in self.keys.locations() {
            match self.together(location) {
                Ok(steps) => return Ok(Plan { steps, split: None }),
                Err(Some(reason)) if split == SplitReason::Separate => split = reason,
                Err(_) => {}
            }
        }
        let collections = self.pattern.targets.iter().filter(|target| target.many).count();
        if let Some(order) = self.pattern.order.as_ref().filter(|_| collections > 1) {
            let entity = self.entity(&self.pattern.targets[0]);
            let obstacle = Obstacle::Interleave { by: order.by.clone() };
            return Err(Unserved { location: TableOrIndex { index: None }, entity, obstacle });
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
        for location in self.keys.locations() {
            match self.access(location, entity).and_then(|access| self.steps(&[(target, access)], None)) {
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
                        failure = Some(Unserved { location, entity, obstacle });
                    }
                }
            }
        }
        let absent = Unserved { location: TableOrIndex { index: None }, entity, obstacle: Obstacle::Absent };
        best.map(|(_, steps)| steps).ok_or_else(|| failure.unwrap_or(absent))
    }
}

/// Whether items of a mapping can lie within a sort condition.
pub fn sort_overlaps(sort: &SortCondition, types: &Entity, mapping: &KeyMapping<'_>) -> bool {
    let Some(template) = &mapping.sort else { return matches!(sort, SortCondition::Any) };
    match sort {
        SortCondition::Any => true,
        SortCondition::Equals(wanted) => wanted.overlaps(types, template, mapping.entity, false, false),
        SortCondition::BeginsWith(prefix) => prefix.overlaps(types, template, mapping.entity, false, true),
        SortCondition::Between { prefix, by } => {
            let field = Template::field(by);
            let open = Template { parts: [prefix.parts.clone(), field.parts].concat() };
            open.overlaps(types, template, mapping.entity, false, true)
        }
        SortCondition::Range { from, to } => {
            let text = template.prefix();
            let above = text >= from.as_str() || from.starts_with(text);
            above && text <= to.as_str()
        }
    }
}

impl SortCondition {
    /// The template that it compares with.
    fn template(&self) -> Option<&Template> {
        match self {
            SortCondition::Any | SortCondition::Range { .. } => None,
            SortCondition::Equals(template)
            | SortCondition::BeginsWith(template)
            | SortCondition::Between { prefix: template, .. } => Some(template),
        }
    }

    /// The same condition with another template.
    fn with(&self, template: Template) -> SortCondition {
        match self {
            SortCondition::Any | SortCondition::Range { .. } => self.clone(),
            SortCondition::Equals(_) => SortCondition::Equals(template),
            SortCondition::BeginsWith(_) => SortCondition::BeginsWith(template),
            SortCondition::Between { by, .. } => SortCondition::Between { prefix: template, by: by.clone() },
        }
    }
}

impl Step<'_> {
    /// The condition on each key attribute, by its position: all but the last are equal to something.
    pub fn clauses(&self) -> Vec<(usize, SortCondition)> {
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
        // A prefix that ends at a border says nothing about the attribute behind it.
        clauses
            .retain(|clause| !matches!(clause, SortCondition::BeginsWith(piece) if piece.parts.is_empty()));
        clauses.into_iter().enumerate().collect()
    }

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
pub fn plans<'m>(keys: &Keyspace<'m>) -> BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>> {
    keys.model.patterns.iter().map(|pattern| (pattern.name.as_str(), plan(keys, pattern))).collect()
}
