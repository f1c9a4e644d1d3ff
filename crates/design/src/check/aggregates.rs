//! Rules about aggregates kept at write time: whoever changes what an aggregate summarises updates it in the same transaction.

use super::Checker;
use super::copies::in_transaction;
use super::limits::a_few_at_a_time;
use crate::finding::Severity;
use crate::model::{Action, Aggregate, Entity, Verb, Write};

impl Checker<'_> {
    pub fn aggregates(&mut self) {
        let model = self.model;
        for parent in &model.entities {
            for aggregate in &parent.aggregates {
                self.expiring(parent, aggregate);
                let writes = self.usage.writes_of(&aggregate.of).to_vec();
                let later = enters_later(&writes, aggregate);
                for write in writes {
                    self.aggregate(write, parent, aggregate, later);
                }
            }
        }
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

    fn aggregate(&mut self, write: &Write, parent: &Entity, aggregate: &Aggregate, later: bool) {
        let of_child = |action: &&Action| action.entity == aggregate.of && changes(action, aggregate, later);
        let Some(action) = write.actions.iter().find(of_child) else { return };
        let (name, child) = (&aggregate.name, &aggregate.of);
        let updated = write.transact
            && write.actions.iter().any(|other| {
                other.entity == parent.name && (other.verb != Verb::Update || other.set.contains(name))
            });
        if !updated {
            let finding = self.about_write("P505", Severity::Error, write);
            let verb = action.verb.name();
            let (help, proposals) = match write.batch && action.many {
                true => (a_few_at_a_time(parent, aggregate, action), Vec::new()),
                false => (
                    format!("update {name} of {} in the same transaction", parent.name),
                    in_transaction(write, missing_update(write, parent, name)),
                ),
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
        let undone = matches!(action.verb, Verb::Delete | Verb::Update) && !aggregate.function.is_additive();
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

/// Whether an action changes the value of an aggregate.
fn changes(action: &Action, aggregate: &Aggregate, enters_later: bool) -> bool {
    let tested = |name: &String| aggregate.filter.mentions(name);
    match action.verb {
        Verb::Create | Verb::Put => !enters_later,
        Verb::Delete => true,
        Verb::Update => action.set.iter().any(|name| *name == aggregate.attribute || tested(name)),
    }
}

/// Whether items come to meet the condition of an aggregate by an update, and so not when they are created.
fn enters_later(writes: &[&Write], aggregate: &Aggregate) -> bool {
    let updates =
        writes.iter().flat_map(|write| &write.actions).filter(|action| action.entity == aggregate.of);
    let mut set = updates.filter(|action| action.verb == Verb::Update).flat_map(|action| &action.set);
    set.any(|name| aggregate.filter.mentions(name))
}
