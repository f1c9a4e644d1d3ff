//! The plan of a pattern: the requests that serve it and the keys they use, or the obstacle.
//!
//! A pattern's inputs are the values that the caller knows. In the table or an index, the partition key must consist of known values and
//! the sort key must start with known values; what follows must be the attribute of the range or of the order. The templates alone decide:
//! nothing is executed.

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

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// GetItem.
    Get,
    /// Query.
    Query,
    /// BatchGetItem.
    BatchGet,
}

impl Operation {
    /// Returns the name of the operation in the API.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Get => "GetItem",
            Operation::Query => "Query",
            Operation::BatchGet => "BatchGetItem",
        }
    }
}

/// A condition on the sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortCondition {
    /// No condition.
    Any,
    /// The sort key is this text.
    Equals(Template),
    /// The sort key starts with this text.
    BeginsWith(Template),
    /// The sort key is between two bounds of an attribute, each after the prefix.
    Between {
        /// The text before the bounds.
        prefix: Template,
        /// The bounded attribute.
        by: String,
    },
    /// The sort key is in a range of texts, both ends included.
    Range {
        /// The lower end.
        from: String,
        /// The upper end.
        to: String,
    },
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
    /// The `Limit` of the request.
    pub limit: Option<u64>,
    /// The number of requests that read all shards, time buckets or batches.
    pub fan_out: u64,
    /// The tests that drop items after the read.
    pub filter: Vec<String>,
    /// Other entities that the request returns as well; some of them if they are many.
    pub extras: Vec<&'m Entity>,
    /// Whether the read is strongly consistent.
    pub strong: bool,
    /// The number of items read.
    pub items: ItemCount,
    /// The average number of bytes read.
    pub bytes: f64,
    /// The largest number of bytes read.
    pub max_bytes: f64,
}

/// The requests that serve a pattern.
#[derive(Clone, Debug)]
pub struct Plan<'m> {
    /// The requests, in order.
    pub steps: Vec<Step<'m>>,
    /// Why several entities are not read by one request, if they are not.
    pub split: Option<SplitReason>,
}

/// Why several entities are not read by one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitReason {
    /// They are not stored together.
    Separate,
    /// A common prefix would also match longer values.
    AmbiguousPrefix(String),
    /// Items of these entities sort between them.
    OthersBetween(Vec<String>),
    /// The single item sorts at the end that a limited read does not reach.
    OppositeEnd {
        /// The entity of the single item.
        single: String,
        /// The entity of the list.
        many: String,
    },
}

/// Why the table or an index does not serve an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The entity is not stored there.
    Absent,
    /// The index is sparse, and the pattern does not imply its condition.
    Sparse {
        /// The condition of the index.
        when: Condition,
    },
    /// The partition key is not fully known.
    Partition {
        /// The template of the partition key.
        template: Template,
        /// The fields that are not known.
        missing: Vec<String>,
        /// Whether some fields are known.
        partial: bool,
    },
    /// There is no sort key for the order or the range.
    NoSortKey {
        /// The attribute of the order or the range.
        wanted: String,
    },
    /// The attribute of the range does not follow the known part of the sort key.
    Range {
        /// The attribute.
        by: String,
        /// The fields of the sort key that precede it.
        before: Vec<String>,
    },
    /// The attribute of the order does not follow the known part of the sort key.
    Order {
        /// The attribute.
        by: String,
        /// The fields of the sort key that precede it.
        before: Vec<String>,
    },
    /// The text of a number does not sort as the number.
    Unsorted {
        /// The attribute.
        by: String,
        /// The template of the sort key.
        template: Template,
    },
    /// A global index cannot be read with strong consistency.
    Consistency,
    /// The index lacks attributes that the pattern needs.
    Projection {
        /// The missing attributes.
        missing: Vec<String>,
    },
    /// Lists of several entities are not stored in one order.
    Interleave {
        /// The attribute of the order.
        by: String,
    },
}

impl Obstacle {
    /// How far the proof got; the obstacle that got furthest gives the most helpful message.
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
    /// The table or index that comes closest to serving the pattern.
    pub location: TableOrIndex<'m>,
    /// The entity that it does not serve.
    pub entity: &'m Entity,
    /// Why it does not.
    pub obstacle: Obstacle,
}

/// The number of filters, other entities, requests and steps: lower is better.
type Rank = (usize, usize, u64, usize);

/// Plans one pattern.
///
/// # Errors
///
/// Returns the obstacle if no key serves the pattern.
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

    /// The cheapest plan for one entity.
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

/// Returns whether items of an entity can meet a sort condition.
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
    /// Returns the condition on each key attribute by position; all but the last are equalities.
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
        // A prefix that ends at a separator does not constrain the attribute after it.
        clauses
            .retain(|clause| !matches!(clause, SortCondition::BeginsWith(piece) if piece.parts.is_empty()));
        clauses.into_iter().enumerate().collect()
    }

    /// Returns the read units of the step.
    pub fn units(&self) -> f64 {
        let requests = if self.operation == Operation::BatchGet {
            self.items.average.max(1.0)
        } else {
            self.fan_out as f64
        };
        let each = self.bytes / requests;
        estimate::read_units(each, self.strong) * requests
    }

    /// Returns the largest number of pages of the result.
    pub fn pages(&self) -> f64 {
        (self.max_bytes / estimate::PAGE_BYTES).ceil().max(1.0)
    }
}

impl Plan<'_> {
    /// Returns the number of requests.
    pub fn requests(&self) -> u64 {
        self.steps.iter().map(|step| step.fan_out).sum()
    }

    /// Returns the read units of all steps.
    pub fn units(&self) -> f64 {
        self.steps.iter().map(Step::units).sum()
    }
}

/// Plans every pattern of a model; returns the plans by name.
pub fn plans<'m>(keys: &Keyspace<'m>) -> BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>> {
    keys.model.patterns.iter().map(|pattern| (pattern.name.as_str(), plan(keys, pattern))).collect()
}
