//! Attributes a request to a declared write, by the entities that it puts, updates and deletes.

use crate::audit::{EntityWrite, ItemChange};
use crate::model::{Model, Verb, Write};
use std::collections::BTreeSet;

/// Returns the name of the declared write that makes these changes, in a transaction or not. Markers and copies come with the items they
/// belong to: a declared write need not name them, and a write that has any is sent as a transaction.
pub fn attribute_write<'m>(
    model: &'m Model,
    written: &[EntityWrite<'_>],
    transaction: bool,
) -> Option<&'m str> {
    let done: BTreeSet<(&str, &str)> =
        written.iter().map(|write| (verb(&write.change), write.entity.name.as_str())).collect();
    let originals: BTreeSet<&str> = done.iter().map(|(_, entity)| *entity).collect();
    let follows = |write: &EntityWrite<'_>| {
        write.entity.copies.as_deref().is_some_and(|original| originals.contains(original))
    };
    let copies: BTreeSet<&str> =
        written.iter().filter(|write| follows(write)).map(|write| write.entity.name.as_str()).collect();
    let has_companions = !copies.is_empty() || written.iter().any(|write| !write.entity.unique.is_empty());
    let fits = |write: &&Write| {
        let actions: BTreeSet<(&str, &str)> =
            write.actions.iter().map(|action| (declared_verb(action.verb), action.entity.as_str())).collect();
        let is_named = |name: &str| actions.iter().any(|(_, entity)| *entity == name);
        let wanted = done.iter().filter(|(_, name)| !copies.contains(name) || is_named(name));
        (write.transact == transaction || (transaction && has_companions)) && wanted.eq(&actions)
    };
    model
        .writes
        .iter()
        .filter(fits)
        .max_by_key(|write| (write.transact == transaction, common(write, written)))
        .map(|write| write.name.as_str())
}

fn verb(change: &ItemChange) -> &'static str {
    match change {
        ItemChange::Put => "put",
        ItemChange::Update(_) => "update",
        ItemChange::Delete => "delete",
    }
}

fn declared_verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create | Verb::Put => "put",
        Verb::Update => "update",
        Verb::Delete => "delete",
    }
}

/// The number of attributes that both the declared write and the request set; updates of one entity differ in that.
fn common(write: &Write, written: &[EntityWrite<'_>]) -> usize {
    let touched = |name: &String| {
        written.iter().any(|other| matches!(&other.change, ItemChange::Update(names) if names.contains(name)))
    };
    write.actions.iter().flat_map(|action| &action.set).filter(|name| touched(name)).count()
}
