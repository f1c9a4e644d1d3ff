//! Which declared pattern or write a request belongs to. Of a read, its place, its partition key and its sort condition tell; of a
//! write, which entities it puts, updates and deletes.

use crate::audit::{Change, Written};
use crate::keyspace::Keyspace;
use crate::model::{Model, Verb, Write};
use crate::plan::{Operation, Sort, plan};
use crate::template::Template;
use crate::value_type::ValueType;
use std::collections::{BTreeMap, BTreeSet};

/// What a pattern's request looks like.
#[derive(Clone, Debug)]
pub struct Shape {
    pub pattern: String,
    operation: Operation,
    index: Option<String>,
    partition: Template,
    sort: Sort,
    forward: bool,
    limited: bool,
    types: BTreeMap<String, ValueType>,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    pub query: bool,
    pub index: Option<&'a str>,
    pub partition: &'a str,
    pub sort: SeenSort<'a>,
    pub forward: bool,
    pub limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenSort<'a> {
    None,
    Equals(&'a str),
    BeginsWith(&'a str),
    /// Between, above or below; one bound is enough to tell.
    Range(&'a str),
}

/// The requests of all patterns that are served.
pub fn shapes(model: &Model) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let keys = Keyspace::new(model);
    for pattern in &model.patterns {
        let Ok(plan) = plan(&keys, pattern) else { continue };
        for step in &plan.steps {
            let mut types = BTreeMap::new();
            step.targets.iter().for_each(|entity| types.extend(entity.types_map()));
            shapes.push(Shape {
                pattern: pattern.name.clone(),
                operation: step.operation,
                index: step.place.index.map(|index| index.name.clone()),
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

/// The pattern that fits best.
pub fn pattern<'s>(shapes: &'s [Shape], seen: &Seen<'_>) -> Option<&'s str> {
    let fitting = shapes.iter().filter(|shape| shape.fits(seen));
    fitting.max_by_key(|shape| shape.likeness(seen)).map(|shape| shape.pattern.as_str())
}

/// The declared write that does this, and in the same way: together or not.
pub fn write<'m>(model: &'m Model, written: &[Written<'_>], transaction: bool) -> Option<&'m str> {
    let name = |verb: Verb| match verb {
        Verb::Create | Verb::Put => "put",
        Verb::Update => "update",
        Verb::Delete => "delete",
    };
    let done: BTreeSet<(&str, &str)> = written
        .iter()
        .map(|write| {
            let verb = match write.change {
                Change::Put => "put",
                Change::Update(_) => "update",
                Change::Delete => "delete",
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

/// How many of the attributes that a declared write sets are set: updates of one entity differ in that.
fn common(write: &Write, written: &[Written<'_>]) -> usize {
    let touched = |name: &String| {
        written.iter().any(|other| matches!(&other.change, Change::Update(names) if names.contains(name)))
    };
    write.actions.iter().flat_map(|action| &action.set).filter(|name| touched(name)).count()
}

impl Shape {
    fn fits(&self, seen: &Seen<'_>) -> bool {
        let operation = seen.query == (self.operation == Operation::Query);
        let place = self.index.as_deref() == seen.index;
        operation
            && place
            && self.partition.matches(seen.partition, &self.types).is_some()
            && self.sort_fits(seen.sort)
    }

    fn sort_fits(&self, seen: SeenSort<'_>) -> bool {
        let matches = |template: &Template, text: &str| template.matches(text, &self.types).is_some();
        match (&self.sort, seen) {
            (Sort::Any, SeenSort::None) => true,
            (Sort::Equals(template), SeenSort::Equals(text)) => matches(template, text),
            (Sort::BeginsWith(template), SeenSort::BeginsWith(text)) => matches(template, text),
            (Sort::Between { prefix, .. }, SeenSort::Range(text) | SeenSort::BeginsWith(text)) => {
                text.starts_with(prefix.prefix())
            }
            (Sort::Span { from, to }, SeenSort::Range(text)) => text >= from.as_str() && text <= to.as_str(),
            _ => false,
        }
    }

    /// Patterns that ask the same keys differ in order and limit.
    fn likeness(&self, seen: &Seen<'_>) -> usize {
        usize::from(self.forward == seen.forward) * 2 + usize::from(self.limited == seen.limited)
    }
}
