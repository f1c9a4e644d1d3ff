//! Proposes the pattern of a read that is not declared.

use super::{MAX_PARTS, ObservedRead, ObservedSort, Place, RequestGroup, RequestShape, RequestShapes};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::keyspace::Keyspace;
use crate::model::{Bounds, Model, Order, Pattern, Target};
use crate::plan::{Plan, SortCondition, Step, plan};
use crate::report::explain::condition_text;
use crate::template::{Part, SHARD, Template};
use crate::toml_writer::pattern_line;
use std::collections::BTreeSet;

/// The most entities that a proposed pattern returns.
const MAX_TARGETS: usize = 20;

/// How the items of an undeclared read can be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proposal {
    /// By this read, once the line is pasted into the model.
    Line(String),
    /// By the request of a pattern, which is sent in another way.
    OtherRequest(String),
}

/// Returns how the items of a read can be read; `None` if no entity has such a key, or no pattern reads all of them at once.
pub fn propose_pattern(model: &Model, shapes: &RequestShapes, read: &ObservedRead<'_>) -> Option<Proposal> {
    let pattern =
        proposed_pattern(model, shapes, read).filter(|pattern| pattern.targets.len() <= MAX_TARGETS)?;
    let place = shapes.place(read.index)?;
    let unbounded = Pattern { range: None, ..pattern.clone() };
    let proposals: Vec<Proposal> =
        [pattern, unbounded].iter().filter_map(|pattern| proposal(model, place, pattern, read)).collect();
    let line = proposals.iter().find(|proposal| matches!(proposal, Proposal::Line(_)));
    line.or(proposals.first()).cloned()
}

fn proposal(model: &Model, place: &Place, pattern: &Pattern, read: &ObservedRead<'_>) -> Option<Proposal> {
    // Other entities do not change how these are read, and a model has many.
    let (table, indexes) = (model.table.clone(), model.indexes.clone());
    let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
    let entities = targets.cloned().collect();
    let alone = Model { table, indexes, entities, ..Model::default() };
    let keys = Keyspace::new(&alone);
    let plan = plan(&keys, pattern).ok()?;
    if declares(model, place, &plan, read) {
        return Some(Proposal::Line(pattern_line(pattern)));
    }
    let declared = model.patterns.iter().find(|other| asks_alike(other, pattern));
    let step = plan.steps.first()?;
    let request = format!("{} on {}, {}", step.operation.name(), step.location.name(), key_text(model, step));
    Some(Proposal::OtherRequest(match declared {
        Some(declared) => {
            format!("pattern {} asks for the same items and is sent as {request}", declared.name)
        }
        None => format!("add {} to [pattern], which is sent as {request}", pattern_line(pattern)),
    }))
}

/// Whether one of the requests of a plan is the read.
fn declares(model: &Model, place: &Place, plan: &Plan<'_>, read: &ObservedRead<'_>) -> bool {
    let collection = place.collection(read);
    plan.steps.iter().enumerate().any(|(number, step)| {
        let is_target = |name: &String| step.targets.iter().any(|entity| entity.name == *name);
        let numbered = place.entities.iter().enumerate();
        let wanted = numbered.filter(|(_, name)| is_target(name)).map(|(number, _)| number).collect();
        let shape = RequestShape::new(model, 0, step, &plan.steps[..number]);
        let group = RequestGroup::new(step, place.keys.all(), wanted, shape);
        step.location.index.map(|index| index.name.as_str()) == read.index
            && group.best(read, &collection).is_some()
    })
}

/// Returns whether two patterns have the same inputs and return the same entities.
fn asks_alike(one: &Pattern, other: &Pattern) -> bool {
    let inputs = |pattern: &Pattern| pattern.inputs.iter().cloned().collect::<BTreeSet<_>>();
    let targets = |pattern: &Pattern| -> BTreeSet<(String, bool)> {
        pattern.targets.iter().map(|target| (target.entity.clone(), target.many)).collect()
    };
    one.via.is_empty() && inputs(one) == inputs(other) && targets(one) == targets(other)
}

/// The key of a step's request.
fn key_text(model: &Model, step: &Step<'_>) -> String {
    let names = step.location.key_names(model);
    let one = |(position, sort): (usize, SortCondition)| {
        let bounds = |by: &str| [format!("{{{by} from}}"), format!("{{{by} to}}")];
        condition_text(names.get(position).map_or("", String::as_str), &sort, bounds)
    };
    step.clauses().into_iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Returns the pattern that declares a read; `None` if no entity has such a key.
pub fn proposed_pattern(model: &Model, shapes: &RequestShapes, read: &ObservedRead<'_>) -> Option<Pattern> {
    let index = match read.index {
        Some(name) => Some(model.index(name)?),
        None => None,
    };
    let (location, place) = (TableOrIndex { index }, shapes.place(read.index)?);
    let mut returned = place.collection(read).returned();
    if returned.is_empty() {
        returned = place.keys.of_key(read.partition).map(|(number, _)| number).collect();
    }
    let mut shared = Shared::default();
    let entities = returned.into_iter().filter_map(|number| model.entity(place.entities.get(number)?));
    let mappings = entities.filter_map(|entity| location.mapping(entity));
    mappings.for_each(|mapping| shared.add(&mapping, read));
    shared.pattern(read)
}

/// What a read has in common with the entities that it may return.
#[derive(Default)]
struct Shared {
    inputs: BTreeSet<String>,
    targets: Vec<Target>,
    /// The attribute that the sort condition bounds or that gives the order.
    by: Option<String>,
}

impl Shared {
    fn add(&mut self, mapping: &KeyMapping<'_>, read: &ObservedRead<'_>) {
        let Some(known) = mapping.partition.matches(read.partition, mapping.entity) else { return };
        let Some((more, next)) = sort_fields(mapping, read.sort) else { return };
        let fields: BTreeSet<String> = known.into_keys().chain(more).filter(|field| field != SHARD).collect();
        self.by = self.by.take().or(next);
        let is_known = |name: &str| fields.contains(name);
        let many = match mapping.location.index {
            None => !mapping.fields().all(|field| field == SHARD || is_known(field)),
            Some(_) => {
                !mapping.entity.is_unique_by(is_known) && !mapping.entity.identity().is_some_and(is_known)
            }
        };
        self.targets.push(Target { entity: mapping.entity.name.clone(), many });
        self.inputs.extend(fields);
    }

    fn pattern(self, read: &ObservedRead<'_>) -> Option<Pattern> {
        let first = self.targets.first()?;
        let is_single = self.targets.iter().all(|target| !target.many);
        let inputs: Vec<String> = self.inputs.into_iter().collect();
        let by = self.by.filter(|_| !is_single);
        let is_range = matches!(read.sort, ObservedSort::Range { .. });
        Some(Pattern {
            name: name(&first.entity, is_single, &inputs),
            inputs,
            range: by.clone().filter(|_| is_range).map(|by| Bounds { by, ..Bounds::default() }),
            order: by.filter(|_| !read.forward).map(|by| Order { by, descending: true }),
            limit: read.limit.filter(|_| !is_single),
            targets: self.targets,
            ..Pattern::default()
        })
    }
}

/// `ordersByUserId`.
fn name(entity: &str, is_single: bool, inputs: &[String]) -> String {
    let capital = |text: &str, lower: bool| {
        let mut letters = text.chars();
        let first = letters
            .next()
            .map(|letter| if lower { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() });
        first.into_iter().chain(letters).filter(|letter| letter.is_alphanumeric()).collect::<String>()
    };
    let plural = if is_single { "" } else { "s" };
    let by: Vec<String> = inputs.iter().map(|input| capital(input, false)).collect();
    let by = if by.is_empty() { String::new() } else { format!("By{}", by.join("And")) };
    format!("{}{plural}{by}", capital(entity, true))
}

/// The fields that a sort condition fixes, and the field that follows; `None` if items of the entity do not meet it.
fn sort_fields(mapping: &KeyMapping<'_>, sort: ObservedSort<'_>) -> Option<(Vec<String>, Option<String>)> {
    let Some(template) = &mapping.sort else {
        return matches!(sort, ObservedSort::None).then(|| (Vec::new(), None));
    };
    match sort {
        ObservedSort::None => Some((Vec::new(), next_field(template, 0))),
        ObservedSort::Equals(text) => {
            let fields = template.matches(text, mapping.entity)?;
            Some((fields.into_keys().collect(), None))
        }
        ObservedSort::BeginsWith(text) => fixed_by(mapping, template, text),
        ObservedSort::Range { from, to } => fixed_by(mapping, template, common_start(from, to)),
    }
}

/// The fields whose values are complete in a prefix.
fn fixed_by(
    mapping: &KeyMapping<'_>,
    template: &Template,
    text: &str,
) -> Option<(Vec<String>, Option<String>)> {
    if template.prefix().starts_with(text) {
        return Some((Vec::new(), next_field(template, 0)));
    }
    // Longer keys are not taken apart further.
    (1..=template.parts.len().min(MAX_PARTS)).rev().find_map(|count| {
        let head = Template { parts: template.parts[..count].to_vec() };
        let ends_in_text = matches!(head.parts.last(), Some(Part::Text(_)));
        let fields = head.matches(text, mapping.entity).filter(|_| ends_in_text)?;
        Some((fields.into_keys().collect(), next_field(template, count)))
    })
}

fn next_field(template: &Template, after: usize) -> Option<String> {
    template.parts.iter().skip(after).find_map(|part| match part {
        Part::Field { name, .. } => Some(name.clone()),
        Part::Text(_) => None,
    })
}

/// The text up to the last delimiter that both bounds share.
fn common_start<'a>(from: Option<&'a str>, to: Option<&'a str>) -> &'a str {
    let (Some(from), Some(to)) = (from, to) else {
        let one = from.or(to).unwrap_or_default();
        return &one[..last_delimiter(one)];
    };
    let same = common_text(from, to);
    &same[..last_delimiter(same)]
}

/// The text that both start with.
fn common_text<'a>(from: &'a str, to: &str) -> &'a str {
    let same = from.chars().zip(to.chars()).take_while(|(left, right)| left == right);
    &from[..same.map(|(left, _)| left.len_utf8()).sum()]
}

fn last_delimiter(text: &str) -> usize {
    text.rfind(['#', '|', '/', '_']).map_or(0, |at| at + 1)
}
