//! Attributes a read to a declared pattern by its index, partition key and sort condition.

mod proposal;

pub use proposal::{Proposal, propose_pattern, proposed_pattern};

use super::span::Span;
use crate::item::Attributes;
use crate::keys::key_mapping::KeyMapping;
use crate::keys::keyspace::Keyspace;
use crate::model::Model;
use crate::model::value_type::ValueType;
use crate::plan::{Operation, Plan, SortCondition, Step, plan};
use crate::template::{ATTRIBUTE_SEPARATOR, Part, Template};
use std::collections::{BTreeMap, BTreeSet};

/// How many parts of a sort key are compared with an undeclared condition.
const MAX_PARTS: usize = 32;

/// A read as it was sent.
#[derive(Clone, Debug)]
pub struct ObservedRead<'a> {
    /// Whether it is a Query rather than a GetItem.
    pub query: bool,
    /// Whether it is one key of a BatchGetItem.
    pub batch: bool,
    /// The index; `None` is the table.
    pub index: Option<&'a str>,
    /// The partition key.
    pub partition: &'a str,
    /// The condition on the sort key.
    pub sort: ObservedSort<'a>,
    /// Whether it reads in ascending order.
    pub forward: bool,
    /// The `Limit` of the request.
    pub limit: Option<u64>,
}

/// The sort condition of a read as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedSort<'a> {
    /// No condition.
    None,
    /// Equality.
    Equals(&'a str),
    /// A prefix.
    BeginsWith(&'a str),
    /// Between, above or below.
    Range {
        /// The lower bound.
        from: Option<&'a str>,
        /// The upper bound.
        to: Option<&'a str>,
    },
}

/// What the request of a pattern looks like.
#[derive(Clone, Debug)]
pub struct RequestShape {
    /// The name of the pattern.
    pub pattern: String,
    operation: Operation,
    index: Option<String>,
    partition: Template,
    sort: SortCondition,
    forward: bool,
    limited: bool,
    /// Whether the request follows a relationship.
    follows: bool,
    types: BTreeMap<String, ValueType>,
    /// The fields for each of whose values there is a request, and the values.
    alternatives: BTreeMap<String, Vec<String>>,
    /// The field that the caller bounds, as the wanted keys hold it; none if it sorts as a number does.
    bounded: Option<Part>,
    /// Which of the sort key attributes hold numbers.
    numbers: Vec<bool>,
    /// The keys that may be in the same collection.
    neighbours: Vec<Neighbour>,
}

/// The keys of an entity in the table or index that a request reads.
#[derive(Clone, Debug)]
struct Neighbour {
    /// Whether the request returns the entity.
    wanted: bool,
    partition: Template,
    /// The sort key; empty if there is none.
    sort: Template,
    types: BTreeMap<String, ValueType>,
}

/// The sort keys that a request of a pattern reads.
struct Selection {
    /// Those of the wanted entities.
    wanted: Span,
    /// Those of the others: between bounds, only what is like a value of the bounded attribute.
    others: Span,
}

/// Returns the requests of all served patterns.
pub fn request_shapes(model: &Model) -> Vec<RequestShape> {
    let keys = Keyspace::new(model);
    let mut shapes = Vec::new();
    for pattern in &model.patterns {
        let Ok(plan) = plan(&keys, pattern) else { continue };
        shapes.extend(shapes_of(model, &pattern.name, &plan));
    }
    shapes
}

/// The requests of one plan. What completes the items of an earlier step has the values that those were found by.
fn shapes_of(model: &Model, pattern: &str, plan: &Plan<'_>) -> Vec<RequestShape> {
    let one = |(number, step): (usize, &Step<'_>)| {
        let names =
            |step: &Step<'_>| step.targets.iter().map(|entity| entity.name.clone()).collect::<Vec<_>>();
        let earlier = plan.steps[..number].iter().filter(|earlier| names(earlier) == names(step));
        let mut shape = RequestShape::new(model, pattern, step);
        shape.alternatives.extend(earlier.flat_map(|earlier| earlier.alternatives.clone()));
        shape
    };
    plan.steps.iter().enumerate().map(one).collect()
}

/// Returns the name of the pattern that fits a read best.
pub fn attribute_read<'s>(shapes: &'s [RequestShape], read: &ObservedRead<'_>) -> Option<&'s str> {
    let fitting = shapes.iter().filter_map(|shape| Some((shape.similarity(read)?, shape)));
    fitting.max_by_key(|(similarity, _)| *similarity).map(|(_, shape)| shape.pattern.as_str())
}

/// Returns the name of the pattern that declares a Scan of the table or of an index.
pub fn attribute_scan<'m>(model: &'m Model, index: Option<&str>) -> Option<&'m str> {
    let declared = model.patterns.iter().find(|pattern| {
        pattern.request.as_ref().is_some_and(|request| request.scan && request.index.as_deref() == index)
    });
    declared.map(|pattern| pattern.name.as_str())
}

impl RequestShape {
    fn new(model: &Model, pattern: &str, step: &Step<'_>) -> RequestShape {
        let mut types = BTreeMap::new();
        step.targets.iter().for_each(|entity| types.extend(entity.types_map()));
        let neighbours = neighbours(model, step);
        let (partition_names, sort_names) = step.location.halves(model);
        let first = partition_names.len();
        let numbers = (first..first + sort_names.len())
            .map(|position| step.location.key_is_number(model, position))
            .collect();
        RequestShape {
            pattern: pattern.to_owned(),
            operation: step.operation,
            index: step.location.index.map(|index| index.name.clone()),
            partition: step.partition.clone(),
            sort: step.sort.clone(),
            forward: step.forward,
            limited: step.wanted().is_some(),
            follows: step.follow.is_some(),
            types,
            alternatives: step.alternatives.clone(),
            bounded: bounded_part(model, step),
            numbers,
            neighbours,
        }
    }

    /// Returns what one request of the pattern reads, if it reads all that a read can return, and the read can return what the pattern does.
    fn selection(&self, read: &ObservedRead<'_>) -> Option<Selection> {
        if self.index.as_deref() != read.index {
            return None;
        }
        let known = self.values(&self.partition, read.partition)?;
        let span = self.span(read.sort);
        let within = |one: &Neighbour| Some((one.wanted, one.keys_within(read, &span)?));
        let found: Vec<(bool, Span)> = self.neighbours.iter().filter_map(within).collect();
        if !found.iter().any(|(wanted, _)| *wanted) {
            return None;
        }
        let reads_all = |selection: &Selection| {
            found.iter().all(|(wanted, keys)| {
                if *wanted { selection.wanted.contains(keys) } else { selection.others.contains(keys) }
            })
        };
        self.selections(&known, &span).into_iter().find(reads_all)
    }

    /// The values of a template's fields in a text, if the pattern asks for them.
    fn values(&self, template: &Template, text: &str) -> Option<Attributes> {
        let values = template.matches(text, &self.types)?;
        let is_asked = |part: &Part| {
            let Part::Field { name, format } = part else { return true };
            let (Some(asked), Some(seen)) = (self.alternatives.get(name), values.get(name)) else {
                return true;
            };
            asked.iter().any(|value| format.apply(value) == format.apply(seen))
        };
        template.parts.iter().all(is_asked).then(|| readable(template, values))
    }

    /// The sort keys that a read selects. Numbers do not sort as their texts do, and nothing else is beside them: their bounds leave nothing out.
    fn span(&self, sort: ObservedSort<'_>) -> Span {
        let is_number = |text: &str| {
            let position = text.matches(ATTRIBUTE_SEPARATOR).count();
            self.numbers.get(position).copied().unwrap_or_default()
        };
        let cut =
            |text: &str| text.rfind(ATTRIBUTE_SEPARATOR).map_or(0, |at| at + ATTRIBUTE_SEPARATOR.len_utf8());
        match sort {
            ObservedSort::Range { from, to } => match from.or(to).filter(|text| is_number(text)) {
                Some(text) => Span::starting_with(&text[..cut(text)]),
                None => selected(sort),
            },
            _ => selected(sort),
        }
    }

    /// What the requests of the pattern read that may read what is read here; one for each way to read the inputs from the keys.
    fn selections(&self, known: &Attributes, span: &Span) -> Vec<Selection> {
        let filled = |template: &Template| template.substitute(|name| known.get(name).cloned());
        let whole = |span: Span| Selection { wanted: span.clone(), others: span };
        match &self.sort {
            SortCondition::Any => vec![whole(Span::everything())],
            SortCondition::Equals(template) => {
                let template = filled(template);
                let text = if template.is_constant() { template.prefix() } else { span.from() };
                let text = self.values(&template, text).map(|_| text);
                text.map(|text| whole(Span::one(text))).into_iter().collect()
            }
            SortCondition::BeginsWith(template) => {
                let starts = self.starts(&filled(template), span);
                starts.into_iter().map(|start| whole(Span::starting_with(&start))).collect()
            }
            SortCondition::Between { prefix, .. } => {
                let starts = self.starts(&filled(prefix), span);
                starts.into_iter().map(|start| self.bounded_selection(&start)).collect()
            }
            SortCondition::Range { from, to } => vec![whole(Span::new(Some(from), Some(to)))],
        }
    }

    /// All that the caller's bounds can select after a start.
    fn bounded_selection(&self, start: &str) -> Selection {
        let wanted = Span::starting_with(start);
        let others = match &self.bounded {
            Some(field) => {
                let parts = [Part::Text(start.to_owned()), field.clone()];
                Span::of(&Template { parts: parts.to_vec() }, &self.types)
            }
            None => wanted.clone(),
        };
        Selection { wanted, others }
    }

    /// The texts that a template makes and an end of a span starts with.
    fn starts(&self, template: &Template, span: &Span) -> Vec<String> {
        if template.is_constant() {
            return vec![template.prefix().to_owned()];
        }
        let ends: BTreeSet<&str> = [Some(span.from()), span.to()].into_iter().flatten().collect();
        let starts = ends.into_iter().flat_map(|text| heads(template, text));
        starts.filter(|start| self.values(template, start).is_some()).map(str::to_owned).collect()
    }

    /// How alike a read and the requests of the pattern are; `None` if it is none of the pattern. Patterns that read the same keys differ in order and limit.
    fn similarity(&self, read: &ObservedRead<'_>) -> Option<usize> {
        let selection = self.selection(read)?;
        let span = self.span(read.sort);
        let is_whole = match (&self.sort, read.sort) {
            (SortCondition::Between { .. }, sort) => !matches!(sort, ObservedSort::Equals(_)),
            _ => {
                let wanted = self.neighbours.iter().filter(|one| one.wanted);
                let keys = wanted.filter_map(|one| {
                    Span::of(&one.sort_in(read.partition)?, &one.types).common(&selection.wanted)
                });
                keys.into_iter().all(|keys| span.contains(&keys))
            }
        };
        let batch = read.batch == (self.operation == Operation::BatchGet);
        Some(
            usize::from(is_whole) * 16
                + usize::from(batch) * 8
                + usize::from(self.forward == read.forward) * 4
                + usize::from(self.limited == read.limit.is_some()) * 2
                + usize::from(!self.follows),
        )
    }
}

impl Neighbour {
    fn new(mapping: &KeyMapping<'_>, wanted: bool) -> Neighbour {
        Neighbour {
            wanted,
            types: mapping.entity.types_map(),
            partition: mapping.partition.clone(),
            sort: mapping.sort.clone().unwrap_or_default(),
        }
    }

    /// The sort keys of the entity in a collection; `None` if it has none there.
    fn sort_in(&self, partition: &str) -> Option<Template> {
        let known = readable(&self.partition, self.partition.matches(partition, &self.types)?);
        Some(self.sort.substitute(|name| known.get(name).cloned()))
    }

    /// The sort keys of the entity that a read can return; `None` if there are none.
    fn keys_within(&self, read: &ObservedRead<'_>, span: &Span) -> Option<Span> {
        let sort = self.sort_in(read.partition)?;
        match read.sort {
            ObservedSort::Equals(text) => sort.matches(text, &self.types).map(|_| Span::one(text)),
            _ => Span::of(&sort, &self.types).common(span),
        }
    }
}

/// The keys of the entities that may be in a collection that a step reads.
fn neighbours(model: &Model, step: &Step<'_>) -> Vec<Neighbour> {
    let here = step.partition.prefix();
    let is_near = |mapping: &KeyMapping<'_>| {
        let there = mapping.partition.prefix();
        there.starts_with(here) || here.starts_with(there)
    };
    let near = step.location.mappings(model).into_iter().filter(is_near);
    near.map(|mapping| Neighbour::new(&mapping, is_target(step, &mapping))).collect()
}

/// The sort keys that a condition selects.
fn selected(sort: ObservedSort<'_>) -> Span {
    match sort {
        ObservedSort::None => Span::everything(),
        ObservedSort::Equals(text) => Span::one(text),
        ObservedSort::BeginsWith(text) => Span::starting_with(text),
        ObservedSort::Range { from, to } => Span::new(from, to),
    }
}

fn is_target(step: &Step<'_>, mapping: &KeyMapping<'_>) -> bool {
    step.targets.iter().any(|entity| entity.name == mapping.entity.name)
}

/// The field that the bounds of a step are for; `None` if it sorts as a number does.
fn bounded_part(model: &Model, step: &Step<'_>) -> Option<Part> {
    let SortCondition::Between { by, .. } = &step.sort else { return None };
    let mappings = step.location.mappings(model);
    let mapping = mappings.iter().find(|mapping| is_target(step, mapping))?;
    let is_bounded = |part: &&Part| matches!(part, Part::Field { name, .. } if name == by);
    let part = mapping.sort.as_ref()?.parts.iter().find(is_bounded).cloned();
    part.filter(|_| !mapping.sorts_as_number(model, by))
}

/// The values that a key holds whole.
fn readable(template: &Template, mut values: Attributes) -> Attributes {
    for part in &template.parts {
        if let Part::Field { name, format } = part
            && !format.is_readable()
        {
            values.remove(name);
        }
    }
    values
}

/// The starts of a text that may be those of a template: up to where its last text ends, or to the end of a word.
fn heads<'t>(template: &Template, text: &'t str) -> Vec<&'t str> {
    let ends: Vec<usize> = match template.parts.last() {
        Some(Part::Text(end)) => text.match_indices(end.as_str()).map(|(at, end)| at + end.len()).collect(),
        _ => text
            .match_indices(|letter: char| !letter.is_alphanumeric())
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect(),
    };
    ends.into_iter().take(MAX_PARTS).map(|end| &text[..end]).collect()
}
