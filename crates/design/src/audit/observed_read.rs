//! Attributes a read to a declared pattern by its index, partition key and sort condition.

mod by_start;
mod candidates;
mod collection;
mod field_table;
mod proposal;
mod shapes_builder;

pub use proposal::{Proposal, propose_pattern, proposed_pattern};

use super::effort::template_parts;
use super::span::Span;
use crate::item::Attributes;
use crate::keys::keyspace::Keyspace;
use crate::model::choices::Choices;
use crate::model::{Entity, Model};
use crate::plan::{Operation, SortCondition, Step, plan};
use crate::template::{ATTRIBUTE_SEPARATOR, Part, SHARD, Template};
use by_start::ByStart;
use collection::{Collection, EntityKeys};
use field_table::FieldTable;
use shapes_builder::ShapesBuilder;
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
struct RequestShape {
    /// The number of the pattern in the model.
    pattern: usize,
    operation: Operation,
    sort: SortCondition,
    forward: bool,
    limited: bool,
    /// Whether the request follows a relationship.
    follows: bool,
    /// The fields for each of whose values there is a request, and the values.
    alternatives: BTreeMap<String, Choices>,
    /// The field that the caller bounds, as the wanted keys hold it; none if it sorts as a number does.
    bounded: Option<Part>,
}

/// The requests that read the same entities by the same partition key.
#[derive(Clone, Debug)]
struct RequestGroup {
    partition: Template,
    /// The numbers of the entities that they return.
    wanted: BTreeSet<usize>,
    fields: FieldTable,
    shapes: Vec<RequestShape>,
}

/// What is read of the table or of an index.
#[derive(Clone, Debug)]
struct Place {
    index: Option<String>,
    /// Which of the sort key attributes hold numbers.
    numbers: Vec<bool>,
    /// The keys of the entities, by the texts that their partition keys start with.
    keys: ByStart<EntityKeys>,
    /// The names of the entities in that order.
    entities: Vec<String>,
    requests: ByStart<RequestGroup>,
}

/// The requests of all served patterns of a model. A read is compared with those whose partition keys start as its own does.
#[derive(Clone, Debug)]
pub struct RequestShapes {
    patterns: Vec<PatternShape>,
    places: Vec<Place>,
    parts: usize,
}

/// A pattern, and how many requests one call of it takes.
#[derive(Clone, Debug)]
struct PatternShape {
    name: String,
    /// 0 if no plan serves it.
    requests: f64,
}

/// The sort keys that a request of a pattern reads.
struct Selection {
    /// Those of the wanted entities.
    wanted: Span,
    /// Those of the others: between bounds, only what is like a value of the bounded attribute.
    others: Span,
}

/// Returns the requests of all served patterns.
pub fn request_shapes(model: &Model) -> RequestShapes {
    let (Ok(shapes) | Err(shapes)) = request_shapes_within(model, usize::MAX);
    shapes
}

/// Returns the requests of all served patterns.
///
/// # Errors
///
/// Returns the first of them if their keys and the values that they list have more parts together.
pub fn request_shapes_within(model: &Model, max_parts: usize) -> Result<RequestShapes, RequestShapes> {
    let keys = Keyspace::new(model);
    let mut builder = ShapesBuilder::new(model);
    for (number, pattern) in model.patterns.iter().enumerate() {
        let Ok(plan) = plan(&keys, pattern) else { continue };
        builder.add(number, &plan);
        if builder.parts > max_parts {
            return Err(builder.finish());
        }
    }
    Ok(builder.finish())
}

/// Returns the name of the pattern that fits a read best.
pub fn attribute_read<'s>(shapes: &'s RequestShapes, read: &ObservedRead<'_>) -> Option<&'s str> {
    let place = shapes.place(read.index)?;
    let collection = place.collection(read);
    let groups = || place.requests.of_key(read.partition).map(|(_, group)| group);
    let fitting = groups().filter_map(|group| group.best(read, &collection));
    let best = fitting.max().map(|(_, pattern)| pattern).or_else(|| {
        // No item has such a key, but a value of a client may make one: what a pattern sends for it is not refused.
        let is_empty = collection.returned().is_empty();
        is_empty.then(|| groups().find_map(|group| group.of_no_item(&collection.span))).flatten()
    });
    best.and_then(|pattern| shapes.patterns.get(pattern)).map(|pattern| pattern.name.as_str())
}

/// Returns the name of the pattern that declares a Scan of the table or of an index.
pub fn attribute_scan<'m>(model: &'m Model, index: Option<&str>) -> Option<&'m str> {
    let declared = model.patterns.iter().find(|pattern| {
        pattern.request.as_ref().is_some_and(|request| request.scan && request.index.as_deref() == index)
    });
    declared.map(|pattern| pattern.name.as_str())
}

impl RequestShapes {
    /// Returns how many parts the keys of the requests and the values that they list have together.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns how many requests a call of each served pattern takes, by the pattern's name.
    pub fn requests_per_call(&self) -> impl Iterator<Item = (&str, f64)> {
        let served = self.patterns.iter().filter(|pattern| pattern.requests > 0.0);
        served.map(|pattern| (pattern.name.as_str(), pattern.requests))
    }

    /// Returns the greatest number of parts of templates that the keys of one read may be matched against.
    pub fn parts_per_read(&self) -> usize {
        self.places.iter().map(Place::parts_per_read).max().unwrap_or_default()
    }

    /// Returns the template that a partition key of the table or of an index is made from, as the model writes it.
    pub fn partition_template(&self, index: Option<&str>, partition: &str) -> Option<&str> {
        let mut near = self.place(index)?.keys.of_key(partition);
        let own = near.find(|(_, keys)| keys.partition.matches(partition, &keys.fields).is_some());
        own.map(|(_, keys)| keys.text.as_str())
    }

    fn place(&self, index: Option<&str>) -> Option<&Place> {
        self.places.iter().find(|place| place.index.as_deref() == index)
    }
}

impl Place {
    fn collection(&self, read: &ObservedRead<'_>) -> Collection {
        Collection::new(read, self.span(read.sort), self.keys.of_key(read.partition))
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

    /// The greatest number of parts of templates that start alike.
    fn parts_per_read(&self) -> usize {
        let of_key = |key: &String| -> usize {
            let keys = self.keys.of_key(key).map(|(_, own)| {
                template_parts(&own.partition, &own.fields) + template_parts(&own.sort, &own.fields)
            });
            let requests =
                self.requests.of_key(key).map(|(_, own)| template_parts(&own.partition, &own.fields));
            keys.chain(requests).sum()
        };
        self.keys.starts().iter().chain(self.requests.starts()).map(of_key).max().unwrap_or_default()
    }
}

impl RequestGroup {
    /// How alike a read and the request that fits it best are, and the number of its pattern. Patterns that read the same keys differ in order
    /// and limit.
    fn best(&self, read: &ObservedRead<'_>, collection: &Collection) -> Option<(usize, usize)> {
        let known = self.partition.matches(read.partition, &self.fields)?;
        let fitting = self.shapes.iter().filter_map(|shape| {
            let selection = self.selection(shape, &known, collection)?;
            Some((self.similarity(shape, &selection, read, collection), shape.pattern))
        });
        fitting.max()
    }

    /// Returns the number of a pattern whose keys start as those of a read do that no item meets.
    fn of_no_item(&self, span: &Span) -> Option<usize> {
        let starts_alike = |shape: &&RequestShape| match shape.start() {
            Some(start) => start.contains(span),
            // Of a whole collection, part of the sort keys that no item has is asked for by mistake.
            None => *span == Span::everything(),
        };
        self.shapes.iter().find(starts_alike).map(|shape| shape.pattern)
    }

    /// Returns what one request reads, if it reads all that a read with these values in its partition key can return, and the read can return
    /// what the pattern does.
    fn selection(
        &self,
        shape: &RequestShape,
        known: &Attributes,
        collection: &Collection,
    ) -> Option<Selection> {
        let known = shape.asked(&self.partition, known.clone())?;
        let mut selections = self.selections(shape, &known, &collection.span).into_iter();
        selections.find(|selection| collection.is_within(selection, &self.wanted))
    }

    /// The values of a template's fields in a text, if the pattern asks for them.
    fn values(&self, shape: &RequestShape, template: &Template, text: &str) -> Option<Attributes> {
        shape.asked(template, template.matches(text, &self.fields)?)
    }

    /// What the requests of the pattern read that may read what is read here; one for each way to read the inputs from the keys.
    fn selections(&self, shape: &RequestShape, known: &Attributes, span: &Span) -> Vec<Selection> {
        let filled = |template: &Template| template.substitute(|name| known.get(name).cloned());
        let whole = |span: Span| Selection { wanted: span.clone(), others: span };
        match &shape.sort {
            SortCondition::Any => vec![whole(Span::everything())],
            SortCondition::Equals(template) => {
                let template = filled(template);
                let text = if template.is_constant() { template.prefix() } else { span.from() };
                let text = self.values(shape, &template, text).map(|_| text);
                text.map(|text| whole(Span::one(text))).into_iter().collect()
            }
            SortCondition::BeginsWith(template) => {
                let starts = self.starts(shape, &filled(template), span);
                starts.into_iter().map(|start| whole(Span::starting_with(&start))).collect()
            }
            SortCondition::Between { prefix, .. } => {
                let starts = self.starts(shape, &filled(prefix), span);
                starts.into_iter().map(|start| self.bounded_selection(shape, &start)).collect()
            }
            SortCondition::Range { from, to } => vec![whole(Span::new(Some(from), Some(to)))],
        }
    }

    /// All that the caller's bounds can select after a start.
    fn bounded_selection(&self, shape: &RequestShape, start: &str) -> Selection {
        let wanted = Span::starting_with(start);
        let others = match &shape.bounded {
            Some(field) => {
                let parts = [Part::Text(start.to_owned()), field.clone()];
                Span::of(&Template { parts: parts.to_vec() }, &self.fields)
            }
            None => wanted.clone(),
        };
        Selection { wanted, others }
    }

    /// The texts that a template makes and an end of a span starts with.
    fn starts(&self, shape: &RequestShape, template: &Template, span: &Span) -> Vec<String> {
        if template.is_constant() {
            return vec![template.prefix().to_owned()];
        }
        let ends: BTreeSet<&str> = [Some(span.from()), span.to()].into_iter().flatten().collect();
        let starts = ends.into_iter().flat_map(|text| heads(template, text));
        starts.filter(|start| self.values(shape, template, start).is_some()).map(str::to_owned).collect()
    }

    fn similarity(
        &self,
        shape: &RequestShape,
        selection: &Selection,
        read: &ObservedRead<'_>,
        collection: &Collection,
    ) -> usize {
        let is_whole = match (&shape.sort, read.sort) {
            (SortCondition::Between { .. }, sort) => !matches!(sort, ObservedSort::Equals(_)),
            _ => collection.has_all(&selection.wanted, &self.wanted),
        };
        let batch = read.batch == (shape.operation == Operation::BatchGet);
        usize::from(is_whole) * 16
            + usize::from(batch) * 8
            + usize::from(shape.forward == read.forward) * 4
            + usize::from(shape.limited == read.limit.is_some()) * 2
            + usize::from(!shape.follows)
    }
}

impl RequestShape {
    fn new(model: &Model, pattern: usize, step: &Step<'_>, earlier: &[Step<'_>]) -> RequestShape {
        let finds = |earlier: &Step<'_>, wanted: &Entity| {
            earlier.targets.iter().any(|entity| entity.name == wanted.name)
        };
        // What completes the items of an earlier step has the values that those were found by.
        let earlier =
            earlier.iter().filter(|earlier| step.targets.iter().all(|wanted| finds(earlier, wanted)));
        let steps = std::iter::once(step).chain(earlier);
        let mapping = step.targets.first().and_then(|entity| step.location.mapping(entity));
        // Another hash than that of the model may select another shard.
        let has_own_hash = mapping.and_then(|own| own.shard).is_some_and(|shard| !shard.is_computed());
        let alternatives = steps.flat_map(|step| &step.alternatives);
        let alternatives = alternatives.filter(|(name, _)| !has_own_hash || *name != SHARD);
        RequestShape {
            pattern,
            operation: step.operation,
            sort: step.sort.clone(),
            forward: step.forward,
            limited: step.wanted().is_some(),
            follows: step.follow.is_some(),
            alternatives: alternatives.map(|(name, own)| (name.clone(), own.clone().into())).collect(),
            bounded: bounded_part(model, step),
        }
    }

    /// The sort keys that start as those of the request do, whatever the values in them; `None` if it has no sort condition.
    fn start(&self) -> Option<Span> {
        match &self.sort {
            SortCondition::Any => None,
            SortCondition::Range { from, to } => Some(Span::new(Some(from), Some(to))),
            SortCondition::Equals(template)
            | SortCondition::BeginsWith(template)
            | SortCondition::Between { prefix: template, .. } => Some(Span::starting_with(template.prefix())),
        }
    }

    /// The values in a key that can be read back, if the pattern asks for all that it has.
    fn asked(&self, template: &Template, values: Attributes) -> Option<Attributes> {
        let is_asked = |part: &Part| {
            let Part::Field { name, format } = part else { return true };
            let (Some(asked), Some(seen)) = (self.alternatives.get(name), values.get(name)) else {
                return true;
            };
            format.apply(seen).is_some_and(|text| asked.writes(*format, &text))
        };
        template.parts.iter().all(is_asked).then(|| readable(template, values))
    }

    fn parts(&self) -> usize {
        let sort = match &self.sort {
            SortCondition::Equals(template)
            | SortCondition::BeginsWith(template)
            | SortCondition::Between { prefix: template, .. } => template.parts.len(),
            SortCondition::Any | SortCondition::Range { .. } => 0,
        };
        1 + sort + self.alternatives.values().map(|values| values.len()).sum::<usize>()
    }
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

/// The field that the bounds of a step are for; `None` if it sorts as a number does.
fn bounded_part(model: &Model, step: &Step<'_>) -> Option<Part> {
    let SortCondition::Between { by, .. } = &step.sort else { return None };
    let mapping = step.targets.iter().find_map(|entity| step.location.mapping(entity))?;
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
