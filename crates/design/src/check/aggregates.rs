//! Rules about aggregates kept at write time: whoever changes what an aggregate summarises updates it in the same transaction.

use super::Checker;
use super::copies::in_transaction;
use super::fate::{Fate, fates};
use super::limits::a_few_at_a_time;
use super::writes::item_twice::joined;
use crate::finding::Severity;
use crate::formatting::list;
use crate::model::value_type::ValueType;
use crate::model::{Action, Aggregate, Entity, Function, Verb, Write};
use crate::repair::{Edit, Repair, quoted};
use std::collections::{BTreeMap, BTreeSet};

/// An action on an item, and the aggregates of its parent that change with it.
struct Changed<'m> {
    write: &'m Write,
    action: &'m Action,
    aggregates: BTreeSet<&'m str>,
}

impl<'m> Checker<'m> {
    /// Returns the first aggregate that changes with an action, and the entity that has it.
    pub(super) fn changed_by(&self, action: &Action) -> Option<(&'m Entity, &'m Aggregate)> {
        let child = self.model.entity(&action.entity)?;
        let writes = self.usage.writes_of(&child.name);
        let parents = self.model.entities.iter();
        let mut all = parents.flat_map(|parent| parent.aggregates.iter().map(move |own| (parent, own)));
        all.find(|(_, aggregate)| {
            let later = || enters_later(writes, aggregate, child);
            aggregate.of == child.name && changes(action, aggregate, child, later())
        })
    }

    pub fn aggregates(&mut self) {
        let model = self.model;
        for parent in &model.entities {
            let mut changed: BTreeMap<(&str, &str), Changed<'_>> = BTreeMap::new();
            for aggregate in &parent.aggregates {
                self.expiring(parent, aggregate);
                self.held(parent, aggregate);
                let writes = self.usage.writes_of(&aggregate.of).to_vec();
                let Some(child) = model.entity(&aggregate.of) else { continue };
                let later = enters_later(&writes, aggregate, child);
                for write in writes {
                    let of_child = |action: &&Action| {
                        action.entity == aggregate.of && changes(action, aggregate, child, later)
                    };
                    let Some(action) = write.actions.iter().find(of_child) else { continue };
                    self.aggregate(write, action, parent, aggregate);
                    let by_item = changed.entry((&write.name, &aggregate.of));
                    let new = || Changed { write, action, aggregates: BTreeSet::new() };
                    by_item.or_insert_with(new).aggregates.insert(&aggregate.name);
                }
            }
            changed.values().for_each(|changed| self.updated_apart(parent, changed));
        }
    }

    /// An item has one parent: what changes with it there is changed by one action, since a transaction takes no two on one item.
    fn updated_apart(&mut self, parent: &Entity, changed: &Changed<'_>) {
        let Changed { write, action, aggregates } = changed;
        // An item that gets another parent changes the aggregates of two.
        let moves = action.verb == Verb::Update
            && parent.identity().is_some_and(|id| action.set.iter().any(|set| set == id));
        let of_child = write.actions.iter().filter(|other| other.entity == action.entity).count();
        let is_update = |other: &&Action| other.verb == Verb::Update && other.entity == parent.name;
        let updates: Vec<&Action> = write.actions.iter().filter(is_update).collect();
        if !write.transact || moves || of_child > 1 || updates.len() < 2 {
            return;
        }
        let set_by = |update: &Action| -> BTreeSet<&str> {
            aggregates.iter().copied().filter(|name| update.set.iter().any(|set| set == name)).collect()
        };
        let sets: Vec<BTreeSet<&str>> = updates.iter().map(|update| set_by(update)).collect();
        let all: BTreeSet<&str> = sets.iter().flatten().copied().collect();
        if sets.contains(&all) {
            return;
        }
        let finding = self.about_write("P520", Severity::Error, write).with_message(format!(
            "{} of one {} change with {}, and this request updates them by several actions on it",
            list(&all.into_iter().collect::<Vec<_>>()),
            parent.name,
            action.entity
        ));
        let joined = joined(&updates);
        let rest = write.actions.iter().filter(|other| !is_update(other)).cloned().collect();
        let is_sent = updates.iter().any(|update| update.expression.is_some());
        let proposals = match is_sent {
            true => Vec::new(),
            false => in_transaction(&Write { actions: rest, ..(*write).clone() }, joined.clone()),
        };
        self.report(finding.with_help(format!("write one: \"{joined}\"")).with_proposals(proposals));
    }

    /// The attribute of an aggregate admits what is counted, added up or found in others.
    fn held(&mut self, parent: &Entity, aggregate: &Aggregate) {
        let Some(attribute) = parent.attribute(&aggregate.name) else { return };
        let child = self.model.entity(&aggregate.of);
        let summarised = child.and_then(|child| child.attribute(&aggregate.attribute));
        let kind = match (aggregate.function, summarised.map(|summarised| &summarised.kind)) {
            (Function::Count, _) => &ValueType::Int,
            (Function::Sum, Some(kind)) if !kind.is_number() => return,
            (_, Some(kind)) => kind,
            (_, None) => return,
        };
        if kind.is_within(&attribute.kind) {
            return;
        }
        let (name, optional) = (&aggregate.name, if attribute.optional { "?" } else { "" });
        let declaration = quoted(&format!("{}{optional}", kind.print()));
        let help = format!("declare {name} = {declaration}, or give the aggregate an attribute of its own");
        let path = ["entity", &parent.name, "attributes", name, "type"];
        let repairs = [&path[..], &path[..4]].map(|path| {
            let edits = vec![Edit::set(path, declaration.as_str())];
            Repair { help: help.clone(), edits }
        });
        let finding = self.about_entity("P521", Severity::Error, parent).with_message(format!(
            "{name} is {}, and {aggregate} is {}: no item has both",
            attribute.kind.described(),
            kind.described()
        ));
        self.report(finding.with_help(help.as_str()).with_proposals(repairs.into()));
    }

    /// An expiry is not part of a transaction.
    fn expiring(&mut self, parent: &Entity, aggregate: &Aggregate) {
        let Some(child) = self.model.entity(&aggregate.of) else { return };
        let Some(ttl) = child.ttl.as_deref().filter(|name| child.attribute(name).is_some()) else { return };
        let finding = self.about_entity("P516", Severity::Warning, parent);
        self.report(
            finding
                .with_message(format!(
                    "{} expires by {ttl}, and {} stays as it was: {aggregate}",
                    child.name, aggregate.name
                ))
                .with_help(format!(
                    "delete {} in a transaction that updates {} before it expires, or count it by reading",
                    child.name, aggregate.name
                )),
        );
    }

    fn aggregate(&mut self, write: &Write, action: &Action, parent: &Entity, aggregate: &Aggregate) {
        let (name, child) = (&aggregate.name, &aggregate.of);
        let updated = write.transact
            && write.actions.iter().any(|other| {
                other.entity == parent.name && (other.verb != Verb::Update || other.set.contains(name))
            });
        if !updated {
            let finding = self.about_write("P505", Severity::Error, write);
            let verb = action.verb.name();
            let update = format!("update {name} of {} in the same transaction", parent.name);
            let (help, proposals) = match write.batch && action.many {
                true => (a_few_at_a_time(parent, aggregate, action), Vec::new()),
                // It may be about items that are not summarised.
                false if is_selective(action, aggregate) => {
                    (format!("{update}, or, {}", shown_apart(action, aggregate)), Vec::new())
                }
                false => (update, in_transaction(write, missing_update(write, parent, name))),
            };
            self.report(
                finding
                    .with_message(format!(
                        "{name} of {} is {aggregate}, and this write {verb}s {child} without updating it in one transaction",
                        parent.name
                    ))
                    .with_help(help)
                    .with_proposals(proposals),
            );
            return;
        }
        let undone = cannot_be_undone(action, aggregate);
        let replaced =
            action.verb == Verb::Put && action.condition.is_none() && aggregate.function.is_additive();
        let (severity, message, help) = if undone {
            let function = aggregate.function.name();
            let message = format!(
                "a {function} cannot be undone: after this write, {name} of {} depends on the other items",
                parent.name
            );
            (
                Severity::Note,
                message,
                format!(
                    "read the remaining {child}, set their {function}, and check each of them in the same transaction; a declared count shows an enforced table that these are all"
                ),
            )
        } else if replaced {
            let message =
                format!("this put may replace a {child} that {name} of {} already includes", parent.name);
            (
                Severity::Warning,
                message,
                format!("write \"create {child}\", or declare the condition of the put"),
            )
        } else {
            return;
        };
        let finding = self.about_write("P511", severity, write);
        self.report(finding.with_message(message).with_help(help));
    }
}

/// The update of an aggregate; it sets nothing if the write has it already, outside a transaction.
fn missing_update(write: &Write, parent: &Entity, name: &str) -> Action {
    let update = Action::new(Verb::Update, &parent.name);
    let mut own = write.actions.iter().filter(|own| own.verb == Verb::Update && own.entity == parent.name);
    let set =
        if own.any(|own| own.set.iter().any(|set| set == name)) { Vec::new() } else { vec![name.to_owned()] };
    Action { set, ..update }
}

/// Whether an action may take away the least or greatest value that an aggregate has: only the items that remain show the next one.
pub(crate) fn may_lose(action: &Action, aggregate: &Aggregate, child: &Entity) -> bool {
    action.entity == child.name
        && cannot_be_undone(action, aggregate)
        && changes(action, aggregate, child, false)
}

fn cannot_be_undone(action: &Action, aggregate: &Aggregate) -> bool {
    matches!(action.verb, Verb::Delete | Verb::Update) && !aggregate.function.is_additive()
}

/// Whether an action changes the value of an aggregate.
fn changes(action: &Action, aggregate: &Aggregate, child: &Entity, enters_later: bool) -> bool {
    let tested = |name: &String| aggregate.filter.mentions(name);
    let is_summarised = |name: &String| *name == aggregate.attribute;
    match action.verb {
        Verb::Create | Verb::Put => !enters_later,
        Verb::Delete => fates(&aggregate.filter, action, child).0 != Fate::Outside,
        Verb::Update if !action.set.iter().any(|name| is_summarised(name) || tested(name)) => false,
        Verb::Update => match fates(&aggregate.filter, action, child) {
            (Fate::Outside, Fate::Outside) => false,
            (Fate::Inside, Fate::Inside) => action.set.iter().any(is_summarised),
            _ => true,
        },
    }
}

/// Whether an action may be about items that an aggregate leaves out.
fn is_selective(action: &Action, aggregate: &Aggregate) -> bool {
    matches!(action.verb, Verb::Update | Verb::Delete) && !aggregate.filter.is_empty()
}

/// How a write shows that it leaves an aggregate as it is.
fn shown_apart(action: &Action, aggregate: &Aggregate) -> String {
    let (when, declared) = match action.verb {
        Verb::Delete => ("before it", "the condition"),
        _ => ("before and after it", "the expression and the condition"),
    };
    format!(
        "if the {} does not meet {} {when}, declare {declared} that show it, with their values",
        aggregate.of, aggregate.filter
    )
}

/// Whether items come to meet the condition of an aggregate by an update, and so not when they are created.
fn enters_later(writes: &[&Write], aggregate: &Aggregate, child: &Entity) -> bool {
    let updates =
        writes.iter().flat_map(|write| &write.actions).filter(|action| action.entity == aggregate.of);
    let mut updates = updates.filter(|action| action.verb == Verb::Update);
    updates.any(|action| {
        action.set.iter().any(|name| aggregate.filter.mentions(name))
            && fates(&aggregate.filter, action, child).1 != Fate::Outside
    })
}
