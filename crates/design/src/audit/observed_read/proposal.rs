//! Proposes the pattern of a read that is not declared.

use super::candidates::{Candidate, Candidates};
use super::{ObservedRead, Place, RequestGroup, RequestShape, RequestShapes};
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::Keyspace;
use crate::model::{Entity, Model, Pattern};
use crate::plan::{Plan, SortCondition, Step, plan};
use crate::relational::naming::free_name;
use crate::report::explain::condition_text;
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
    /// By no pattern that was found; the entities that it may return, or some of them if they are many.
    Unplanned(Vec<String>),
}

/// Returns how the items of a read can be read; `None` if no entity has such a key.
pub fn propose_pattern(model: &Model, shapes: &RequestShapes, read: &ObservedRead<'_>) -> Option<Proposal> {
    let (location, entities) = returned(model, shapes, read)?;
    let names = || entities.iter().take(MAX_TARGETS).map(|entity| entity.name.clone()).collect();
    let found = (entities.len() <= MAX_TARGETS).then(|| {
        let candidates = Candidates::new(location, &entities, read);
        best(model, shapes.place(read.index)?, read, &entities, &candidates)
    });
    Some(found.flatten().unwrap_or_else(|| Proposal::Unplanned(names())))
}

/// Returns the pattern that asks what a read does, served or not; `None` if no entity has such a key.
pub fn proposed_pattern(model: &Model, shapes: &RequestShapes, read: &ObservedRead<'_>) -> Option<Pattern> {
    let (location, entities) = returned(model, shapes, read)?;
    Some(Candidates::new(location, &entities, read).first())
}

/// Where a read looks, and the entities whose items it may return; `None` if there are none.
fn returned<'m>(
    model: &'m Model,
    shapes: &RequestShapes,
    read: &ObservedRead<'_>,
) -> Option<(TableOrIndex<'m>, Vec<&'m Entity>)> {
    let index = match read.index {
        Some(name) => Some(model.index(name)?),
        None => None,
    };
    let place = shapes.place(read.index)?;
    let numbers = place.collection(read).returned().into_iter();
    let entities: Vec<&Entity> =
        numbers.filter_map(|number| model.entity(place.entities.get(number)?)).collect();
    (!entities.is_empty()).then_some((TableOrIndex { index }, entities))
}

/// The first candidate that declares the read, or else the first that reads the same items by another request.
fn best(
    model: &Model,
    place: &Place,
    read: &ObservedRead<'_>,
    entities: &[&Entity],
    candidates: &Candidates<'_, '_>,
) -> Option<Proposal> {
    // Other entities do not change how these are read, and a model has many.
    let (table, indexes) = (model.table.clone(), model.indexes.clone());
    let entities = entities.iter().map(|entity| (*entity).clone()).collect();
    let alone = Model { table, indexes, entities, ..Model::default() };
    let keys = Keyspace::new(&alone);
    let mut other = None;
    for Candidate { pattern, is_alike } in candidates.all() {
        let Ok(plan) = plan(&keys, &pattern) else { continue };
        if declares(model, place, &plan, read) {
            return Some(Proposal::Line(line_to_add(model, &pattern)));
        }
        if is_alike && other.is_none() {
            other = other_request(model, &plan, &pattern);
        }
    }
    other
}

fn other_request(model: &Model, plan: &Plan<'_>, pattern: &Pattern) -> Option<Proposal> {
    let declared = model.patterns.iter().find(|other| asks_alike(other, pattern));
    let step = plan.steps.first()?;
    let request = format!("{} on {}, {}", step.operation.name(), step.location.name(), key_text(model, step));
    Some(Proposal::OtherRequest(match declared {
        Some(declared) => {
            format!("pattern {} asks for the same items and is sent as {request}", declared.name)
        }
        None => format!("add {} to [pattern], which is sent as {request}", line_to_add(model, pattern)),
    }))
}

/// A pattern as a line of the model, under a name that no declared pattern has.
fn line_to_add(model: &Model, pattern: &Pattern) -> String {
    let is_taken = |name: &str| model.patterns.iter().any(|declared| declared.name == name);
    pattern_line(&Pattern { name: free_name(&pattern.name, is_taken), ..pattern.clone() })
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

/// Returns whether two patterns have the same inputs and conditions, and return the same entities.
fn asks_alike(one: &Pattern, other: &Pattern) -> bool {
    let inputs = |pattern: &Pattern| pattern.inputs.iter().cloned().collect::<BTreeSet<_>>();
    let targets = |pattern: &Pattern| -> BTreeSet<(String, bool)> {
        pattern.targets.iter().map(|target| (target.entity.clone(), target.many)).collect()
    };
    one.via.is_empty()
        && one.filter == other.filter
        && inputs(one) == inputs(other)
        && targets(one) == targets(other)
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
