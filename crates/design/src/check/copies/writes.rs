//! Rules about writes of an original or its copy: both come, go and change in one transaction, with the same attributes.

use super::in_transaction;
use crate::audit::copying::Copying;
use crate::check::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::{Action, Entity, Model, Verb, Write};
use std::collections::BTreeSet;

/// What a write does to the items of an entity.
struct Effect<'w> {
    /// What it does to them in the end: what it puts or deletes it does not only update.
    action: &'w Action,
    /// It writes whole items.
    puts: bool,
    /// It deletes items, and puts none in their place.
    removes: bool,
    /// The attributes that its updates change.
    set: BTreeSet<&'w str>,
}

impl<'w> Effect<'w> {
    fn of(write: &'w Write, entity: &Entity) -> Option<Effect<'w>> {
        let actions: Vec<&Action> =
            write.actions.iter().filter(|action| action.entity == entity.name).collect();
        let puts = |action: &&&Action| matches!(action.verb, Verb::Create | Verb::Put);
        let deletes = |action: &&&Action| action.verb == Verb::Delete;
        let action = actions.iter().find(puts).or_else(|| actions.iter().find(deletes));
        let action = *action.or(actions.first())?;
        let (puts, removes) = (puts(&&action), deletes(&&action));
        let updates = actions.iter().filter(|action| action.verb == Verb::Update);
        let set = updates.flat_map(|action| action.set.iter().map(String::as_str)).collect();
        Some(Effect { action, puts, removes, set })
    }

    /// The attributes of another entity that the updates change.
    fn set_of(&self, entity: &Entity) -> Vec<&'w str> {
        self.set.iter().copied().filter(|name| entity.attribute(name).is_some()).collect()
    }
}

impl Checker<'_> {
    /// A write of the original also writes the copy, in the same transaction.
    pub(super) fn original_written(&mut self, write: &Write, original: &Entity, copy: &Entity) {
        let Some(own) = Effect::of(write, original) else { return };
        match Effect::of(write, copy).filter(|_| write.transact) {
            // The transaction that removes the oldest version only checks the copy of the newest.
            None if own.removes && own.set.is_empty() && is_pruned(self.model, write, copy) => {}
            // Adding an edge or a version always concerns the copy.
            None if own.action.verb != Verb::Update || !own.set_of(copy).is_empty() => {
                self.without_copy(write, own.action, original, copy);
            }
            // What changes the copy of the newest version is a rule of its own.
            Some(other) if !copy.latest => self.original_changed(write, (original, &own), (copy, &other)),
            _ => {}
        }
    }

    /// A copy comes, goes and changes only with its original.
    pub(super) fn copy_written(&mut self, write: &Write, original: &Entity, copy: &Entity) {
        let Some(own) = Effect::of(write, copy) else { return };
        match Effect::of(write, original) {
            None if own.puts || own.removes => {
                self.without_original(write, original, copy, own.action.verb);
            }
            None => self.left_behind(write, copy, original, &own.set_of(original)),
            Some(other) if write.transact => self.copy_changed(write, (original, &other), (copy, &own)),
            Some(_) => {}
        }
    }

    fn without_copy(&mut self, write: &Write, action: &Action, original: &Entity, copy: &Entity) {
        let verb = action.verb.name();
        let other = Action { set: action.set.clone(), ..Action::new(action.verb, &copy.name) };
        let (copy_verb, proposals) = match (copy.latest, action.verb) {
            // The copy of the newest version is there from the second version on, and stays while there are others.
            (true, Verb::Create | Verb::Put) => {
                ("put", in_transaction(write, Action::new(Verb::Put, &copy.name)))
            }
            (true, _) => ("show or change", Vec::new()),
            (false, _) => (verb, in_transaction(write, other)),
        };
        let message = format!(
            "{} {verb}s {} without its copy {} in one transaction: they drift apart",
            write.name, original.name, copy.name
        );
        let help = format!("{copy_verb} {} in the same transaction", copy.name);
        self.report(drifting(write).with_message(message).with_help(help).with_proposals(proposals));
    }

    fn without_original(&mut self, write: &Write, original: &Entity, copy: &Entity, verb: Verb) {
        let word = verb.name();
        let message = format!(
            "{} {word}s {} without its original {}: they drift apart",
            write.name, copy.name, original.name
        );
        let help = format!("{word} {} in the same transaction", original.name);
        let proposals = in_transaction(write, Action::new(verb, &original.name));
        self.report(drifting(write).with_message(message).with_help(help).with_proposals(proposals));
    }

    /// The original changes in a transaction with its copy, which gets the same values or goes with it.
    fn original_changed(
        &mut self,
        write: &Write,
        (original, own): (&Entity, &Effect<'_>),
        (copy, other): (&Entity, &Effect<'_>),
    ) {
        if own.removes && !other.removes {
            let message = format!(
                "{} deletes {}, and its copy {} remains: they drift apart",
                write.name, original.name, copy.name
            );
            let help = format!("delete {} in the same transaction", copy.name);
            return self.report(drifting(write).with_message(message).with_help(help));
        }
        if own.removes || other.removes || other.puts {
            return;
        }
        let changed = if own.puts { values_of(copy, original) } else { own.set_of(copy) };
        let left: Vec<&str> = changed.into_iter().filter(|name| !other.set.contains(name)).collect();
        self.left_behind(write, original, copy, &left);
    }

    /// The copy changes in a transaction with its original, which gets the same values or goes with it.
    fn copy_changed(
        &mut self,
        write: &Write,
        (original, other): (&Entity, &Effect<'_>),
        (copy, own): (&Entity, &Effect<'_>),
    ) {
        if own.removes && !other.removes {
            if keeps_copy(self.model, original, copy, other) {
                let message = format!(
                    "{} deletes {}, and its original {} remains: they drift apart",
                    write.name, copy.name, original.name
                );
                let help = format!("keep {}, or delete {} too", copy.name, original.name);
                self.report(drifting(write).with_message(message).with_help(help));
            }
            return;
        }
        // A copy that is put is made of the original as it will be.
        if own.removes || own.puts || other.removes || other.puts {
            return;
        }
        let left: Vec<&str> =
            own.set_of(original).into_iter().filter(|name| !other.set.contains(name)).collect();
        self.left_behind(write, copy, original, &left);
    }

    /// Attributes that change in an original or its copy, and keep their values in the other.
    fn left_behind(&mut self, write: &Write, changed: &Entity, other: &Entity, left: &[&str]) {
        if left.is_empty() {
            return;
        }
        let role = if changed.copies.as_ref() == Some(&other.name) { "original" } else { "copy" };
        let message = format!(
            "{} changes {} of {}, and not of its {role} {}: they drift apart",
            write.name,
            list(left),
            changed.name,
            other.name
        );
        let help = format!("update {} of {} in the same transaction", list(left), other.name);
        let set = left.iter().map(|name| (*name).to_owned()).collect();
        let proposals = in_transaction(write, Action { set, ..Action::new(Verb::Update, &other.name) });
        self.report(drifting(write).with_message(message).with_help(help).with_proposals(proposals));
    }
}

fn drifting(write: &Write) -> Finding {
    Finding::new("P501", Severity::Error, write.subject(), &write.span)
}

/// The attributes that a copy shares with its original, besides those of its key.
fn values_of<'e>(copy: &'e Entity, original: &Entity) -> Vec<&'e str> {
    let shared = copy.attributes.iter().map(|attribute| attribute.name.as_str());
    shared.filter(|name| original.attribute(name).is_some() && !copy.has_key_field(name)).collect()
}

/// Returns whether versions are removed from the oldest on, in one decision: the copy of the newest stays where it is.
fn is_pruned(model: &Model, write: &Write, copy: &Entity) -> bool {
    let is_one = write.transact || matches!(write.actions.as_slice(), [action] if !action.many);
    let copying = Copying::of_copy(model, copy);
    is_one && copying.is_some_and(|own| own.is_versioned() && own.is_comparable() && !own.copy_moves())
}

/// Returns whether an original still has its copy after such a write: it has one in any case, or keeps the values that give it one.
fn keeps_copy(model: &Model, original: &Entity, copy: &Entity, effect: &Effect<'_>) -> bool {
    let is_compared = Copying::of_copy(model, copy).is_some_and(|copying| !copying.is_versioned());
    let may_lose = |name: &str| {
        let is_optional = original.attribute(name).is_some_and(|attribute| attribute.optional);
        is_optional && (effect.puts || effect.set.contains(name))
    };
    is_compared && !copy.key_fields().any(may_lose)
}
