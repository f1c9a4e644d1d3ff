//! Attributes a request to a declared pattern or write: a read by its index, partition key and sort condition, a write by the entities it
//! puts, updates and deletes.

use crate::audit::{EntityWrite, ItemChange};
use crate::keys::keyspace::Keyspace;
use crate::model::value_type::ValueType;
use crate::model::{Model, Verb, Write};
use crate::plan::{Operation, SortCondition, plan};
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

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
    types: BTreeMap<String, ValueType>,
}

/// A read as it was sent.
#[derive(Clone, Debug)]
pub struct ObservedRead<'a> {
    /// Whether it is a Query rather than a GetItem.
    pub query: bool,
    /// The index; `None` is the table.
    pub index: Option<&'a str>,
    /// The partition key.
    pub partition: &'a str,
    /// The condition on the sort key.
    pub sort: ObservedSort<'a>,
    /// Whether it reads in ascending order.
    pub forward: bool,
    /// Whether it has a `Limit`.
    pub limited: bool,
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
    /// Between, above or below; one bound is enough to attribute it.
    Range(&'a str),
}

/// Returns the requests of all served patterns.
pub fn request_shapes(model: &Model) -> Vec<RequestShape> {
    let mut shapes = Vec::new();
    let keys = Keyspace::new(model);
    for pattern in &model.patterns {
        let Ok(plan) = plan(&keys, pattern) else { continue };
        for step in &plan.steps {
            let mut types = BTreeMap::new();
            step.targets.iter().for_each(|entity| types.extend(entity.types_map()));
            shapes.push(RequestShape {
                pattern: pattern.name.clone(),
                operation: step.operation,
                index: step.location.index.map(|index| index.name.clone()),
                partition: step.partition.clone(),
                sort: step.sort.clone(),
                forward: step.forward,
                limited: step.limit.is_some(),
                types,
            });
        }
    }
    shapes
}

/// Returns the name of the pattern that fits a read best.
pub fn attribute_read<'s>(shapes: &'s [RequestShape], read: &ObservedRead<'_>) -> Option<&'s str> {
    let fitting = shapes.iter().filter(|shape| shape.fits(read));
    fitting.max_by_key(|shape| shape.similarity(read)).map(|shape| shape.pattern.as_str())
}

/// Returns the name of the declared write that makes these changes, in a transaction or not.
pub fn attribute_write<'m>(
    model: &'m Model,
    written: &[EntityWrite<'_>],
    transaction: bool,
) -> Option<&'m str> {
    let name = |verb: Verb| match verb {
        Verb::Create | Verb::Put => "put",
        Verb::Update => "update",
        Verb::Delete => "delete",
    };
    let done: BTreeSet<(&str, &str)> = written
        .iter()
        .map(|write| {
            let verb = match write.change {
                ItemChange::Put => "put",
                ItemChange::Update(_) => "update",
                ItemChange::Delete => "delete",
            };
            (verb, write.entity.name.as_str())
        })
        .collect();
    let fits = |write: &&Write| {
        let actions: BTreeSet<(&str, &str)> =
            write.actions.iter().map(|action| (name(action.verb), action.entity.as_str())).collect();
        write.transact == transaction && actions == done
    };
    model
        .writes
        .iter()
        .filter(fits)
        .max_by_key(|write| common(write, written))
        .map(|write| write.name.as_str())
}

/// The number of attributes that both the declared write and the request set; updates of one entity differ in that.
fn common(write: &Write, written: &[EntityWrite<'_>]) -> usize {
    let touched = |name: &String| {
        written.iter().any(|other| matches!(&other.change, ItemChange::Update(names) if names.contains(name)))
    };
    write.actions.iter().flat_map(|action| &action.set).filter(|name| touched(name)).count()
}

impl RequestShape {
    fn fits(&self, read: &ObservedRead<'_>) -> bool {
        let operation = read.query == (self.operation == Operation::Query);
        let location = self.index.as_deref() == read.index;
        operation
            && location
            && self.partition.matches(read.partition, &self.types).is_some()
            && self.sort_fits(read.sort)
    }

    fn sort_fits(&self, read: ObservedSort<'_>) -> bool {
        let matches = |template: &Template, text: &str| template.matches(text, &self.types).is_some();
        match (&self.sort, read) {
            (SortCondition::Any, ObservedSort::None) => true,
            (SortCondition::Equals(template), ObservedSort::Equals(text)) => matches(template, text),
            (SortCondition::BeginsWith(template), ObservedSort::BeginsWith(text)) => matches(template, text),
            (
                SortCondition::Between { prefix, .. },
                ObservedSort::Range(text) | ObservedSort::BeginsWith(text),
            ) => text.starts_with(prefix.prefix()),
            (SortCondition::Range { from, to }, ObservedSort::Range(text)) => {
                text >= from.as_str() && text <= to.as_str()
            }
            _ => false,
        }
    }

    /// Patterns that read the same keys differ in order and limit.
    fn similarity(&self, read: &ObservedRead<'_>) -> usize {
        usize::from(self.forward == read.forward) * 2 + usize::from(self.limited == read.limited)
    }
}
