//! References that lead back to where they start: items of such entities, and such values, would follow from themselves.

use super::references::Names;
use crate::finding::{Finding, Severity};
use crate::model::{Attribute, Entity};
use crate::source::Span;
use crate::template::Template;
use std::collections::HashMap;

/// How far a node has been followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnTheWay,
    Done,
}

/// Returns the numbers of nodes of which each leads to the next, and the last to the first; `next` are those that a node leads to.
fn circle(count: usize, next: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    let mut states = vec![State::New; count];
    for start in 0..count {
        // The way from the start, each node with those that are still to be followed. Ways may be long: no recursion.
        let mut way: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut entered = Some(start).filter(|start| states[*start] == State::New);
        loop {
            if let Some(node) = entered.take() {
                states[node] = State::OnTheWay;
                way.push((node, next(node)));
            }
            let Some((node, left)) = way.last_mut() else { break };
            match left.pop() {
                None => {
                    states[*node] = State::Done;
                    way.pop();
                }
                Some(other) if states[other] == State::OnTheWay => {
                    let ends = way.iter().map(|(node, _)| *node);
                    return Some(ends.skip_while(|node| *node != other).collect());
                }
                Some(other) => entered = Some(other).filter(|other| states[*other] == State::New),
            }
        }
    }
    None
}

/// A reference from one entity to another, and what to say where it leads back.
struct Reference {
    /// The name of the other entity.
    of: fn(&Entity) -> Option<&str>,
    /// Where an entity declares it.
    path: &'static [&'static str],
    /// What the reference says of the first entity, and what joins the others.
    words: [&'static str; 2],
    help: &'static str,
}

const REFERENCES: [Reference; 2] = [
    // It leads to an entity that is counted by itself.
    Reference {
        of: |entity| entity.expect.per.as_deref(),
        path: &["expect", "per"],
        words: ["is expected per", " per "],
        help: "declare the count of one of them instead: expect = { count = 1000 }",
    },
    // It leads to an entity that is written for itself.
    Reference {
        of: |entity| entity.copies.as_deref(),
        path: &["copies"],
        words: ["copies", ", which copies "],
        help: "remove copies from the one that is the original",
    },
];

impl<'a> Names<'a> {
    pub(super) fn circles(&mut self) {
        REFERENCES.iter().for_each(|reference| self.circle_of_entities(reference));
        self.circle_of_aggregates();
        for entity in &self.model.entities {
            self.circle_of_computed(entity);
        }
    }

    fn circle_of_entities(&mut self, reference: &Reference) {
        let entities = &self.model.entities;
        let numbers: HashMap<&str, usize> =
            entities.iter().enumerate().map(|(number, entity)| (entity.name.as_str(), number)).collect();
        let next = |number: usize| {
            let other = (reference.of)(&entities[number]).and_then(|name| numbers.get(name));
            other.copied().into_iter().collect()
        };
        let Some(found) = circle(entities.len(), next) else { return };
        let names: Vec<&str> = found.iter().map(|number| entities[*number].name.as_str()).collect();
        let entity = &entities[found[0]];
        let place = [&["entity", names[0]], reference.path].concat();
        let [verb, joint] = reference.words;
        let message = format!("{} {verb} {}: a circle", names[0], closed(&names, joint));
        self.report_circle(entity, self.place(&place, &entity.span), message, reference.help);
    }

    /// The value of an aggregate follows from those of other items, which may be aggregates too.
    fn circle_of_aggregates(&mut self) {
        let entities = &self.model.entities;
        let all: Vec<_> = entities
            .iter()
            .flat_map(|entity| entity.aggregates.iter().map(move |aggregate| (entity, aggregate)))
            .collect();
        let numbers: HashMap<(&str, &str), usize> = all
            .iter()
            .enumerate()
            .map(|(number, (entity, aggregate))| ((entity.name.as_str(), aggregate.name.as_str()), number))
            .collect();
        if let Some((entity, aggregate)) = all.iter().find(|(entity, own)| own.of == entity.name) {
            let message = format!("{} summarises items of {} itself", aggregate.name, entity.name);
            let help = "an aggregate is of another entity, whose items name the one that they belong to";
            self.report_circle(entity, aggregate.span.clone(), message, help);
            return;
        }
        // A copy has the value of its original.
        let made = |entity: &'a Entity, name: &str| {
            let original = |copy: &&'a Entity| self.model.entity(copy.copies.as_deref()?);
            let copied = std::iter::successors(Some(entity), original).take(entities.len());
            let mut holding = copied.take_while(|entity| entity.attribute(name).is_some());
            holding.find_map(|entity| numbers.get(&(entity.name.as_str(), name)).copied())
        };
        let next = |number: usize| {
            let aggregate = all[number].1;
            let Some(summarised) = self.model.entity(&aggregate.of) else { return Vec::new() };
            let read = aggregate.filter.attributes().into_iter().chain([aggregate.attribute.as_str()]);
            read.filter_map(|name| made(summarised, name)).collect()
        };
        let Some(found) = circle(all.len(), next) else { return };
        let names: Vec<String> =
            found.iter().map(|number| format!("{}.{}", all[*number].0.name, all[*number].1.name)).collect();
        let (entity, aggregate) = all[found[0]];
        let message = format!("{} is made of {}: a circle", names[0], closed(&names, " of "));
        let help = "summarise an attribute that is neither an aggregate nor a copy of one in one of them";
        self.report_circle(entity, aggregate.span.clone(), message, help);
    }

    fn circle_of_computed(&mut self, entity: &Entity) {
        let attributes: &[Attribute] = &entity.attributes;
        let numbers: HashMap<&str, usize> =
            attributes.iter().enumerate().map(|(number, own)| (own.name.as_str(), number)).collect();
        let next = |number: usize| {
            let fields = attributes[number].origin.computed.iter().flat_map(Template::fields);
            fields.filter_map(|field| numbers.get(field).copied()).collect()
        };
        let Some(found) = circle(attributes.len(), next) else { return };
        let names: Vec<&str> = found.iter().map(|number| attributes[*number].name.as_str()).collect();
        let place = ["entity", &entity.name, "attributes", names[0], "computed"];
        let message = format!("{} is computed from {}: a circle", names[0], closed(&names, " from "));
        let help = "compute one of them from attributes that items have already";
        self.report_circle(entity, self.place(&place, &entity.span), message, help);
    }

    /// Where a value is, or else its entity.
    fn place(&self, path: &[&str], entity: &Span) -> Span {
        self.file.value_of(path).unwrap_or_else(|| entity.clone())
    }

    fn report_circle(&mut self, entity: &Entity, span: Span, message: String, help: &str) {
        let finding = Finding::new("P002", Severity::Error, entity.subject(), &span);
        self.findings.push(finding.with_message(message).with_help(help));
    }
}

/// The names behind the first one, and the first one again.
fn closed<T: AsRef<str>>(names: &[T], joint: &str) -> String {
    let rest = names[1..].iter().chain(&names[..1]).map(AsRef::as_ref);
    rest.collect::<Vec<&str>>().join(joint)
}
