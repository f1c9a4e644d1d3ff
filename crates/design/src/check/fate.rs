//! What is known of an item before and after a declared request, and so whether it belongs to those that meet a condition.

use crate::model::condition::{Condition, Constant};
use crate::model::expression::Clause;
use crate::model::{Action, Entity, Verb};

/// Whether an item meets a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Inside,
    Outside,
    /// It depends on values that the request does not show.
    Open,
}

/// What is known of the item that an action changes: what its condition requires, where the write declares the values.
pub(super) fn known_before(action: &Action, entity: &Entity) -> Condition {
    let required = action.condition.as_ref().map(|condition| condition.known(&action.values));
    required.unwrap_or_default().typed(entity)
}

/// What is known of an item after an update: the attributes that it sets, with their values where the write declares them, and those it removes;
/// and what its condition requires of the others.
pub(super) fn known_after(action: &Action, entity: &Entity) -> Condition {
    let changes = action.expression.iter().flat_map(|expression| &expression.changes);
    let whole = changes.filter(|change| change.is_whole() && !change.is_idle());
    let known = whole.filter_map(|change| {
        let name = &change.path.attribute;
        match change.clause {
            Clause::Remove => Some(Condition::Not(Box::new(Condition::exists(name)))),
            Clause::Set => Some(match action.declared_value(name) {
                Some(value) => Condition::equals(name, Constant::Text(value.to_owned())),
                None => Condition::exists(name),
            }),
            Clause::Add | Clause::Delete => None,
        }
    });
    let before = known_before(action, entity);
    let touched: Vec<&str> = action.expression.iter().flat_map(|expression| expression.touched()).collect();
    let stays = |part: &&Condition| part.attributes().iter().all(|name| !touched.contains(name));
    let kept = before.conjuncts().into_iter().filter(stays).cloned();
    Condition::All(known.collect()).typed(entity).and(&Condition::All(kept.collect()))
}

/// Whether an item of which this is known meets a condition.
pub(super) fn fate(condition: &Condition, known: &Condition, entity: &Entity) -> Fate {
    if condition.is_empty() || !known.is_satisfiable(entity) {
        Fate::Open
    } else if !known.and(condition).is_satisfiable(entity) {
        Fate::Outside
    } else if known.implies(condition, entity) {
        Fate::Inside
    } else {
        Fate::Open
    }
}

/// Whether the item of an action meets a condition before and after it.
pub(super) fn fates(condition: &Condition, action: &Action, entity: &Entity) -> (Fate, Fate) {
    let before = match action.verb {
        Verb::Create => Fate::Outside,
        _ => fate(condition, &known_before(action, entity), entity),
    };
    let after = match action.verb {
        Verb::Delete => Fate::Outside,
        Verb::Update if action.expression.is_some() => fate(condition, &known_after(action, entity), entity),
        _ => Fate::Open,
    };
    (before, after)
}
