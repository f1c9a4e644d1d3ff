//! Rules about what update expressions do to an item's entries in indexes: the keys change with what they are made of, and are there as long
//! as the item belongs into the index.

use super::Checker;
use super::fate::{Fate, fate, known_after};
use crate::audit::{StaleKey, stale_keys};
use crate::finding::Severity;
use crate::formatting::list;
use crate::keys::key_sources::{KeySources, Presence};
use crate::model::condition::Condition;
use crate::model::expression::{Clause, UpdateExpression};
use crate::model::{Action, Entity, Write};

impl<'m> Checker<'m> {
    pub(super) fn index_entries(
        &mut self,
        write: &Write,
        action: &Action,
        expression: &UpdateExpression,
        entity: &'m Entity,
    ) {
        let after = known_after(action, entity);
        for stale in stale_keys(self.model, entity, &expression.touched()) {
            self.stale(write, entity, &stale, &after);
        }
        for Presence { keys, indexes, when } in KeySources::new(self.model, entity).presences(|_| true) {
            let wrong = match fate(&when, &after, entity) {
                Fate::Inside => Clause::Remove,
                Fate::Outside => Clause::Set,
                Fate::Open => continue,
            };
            let keys = changed(&keys, expression, wrong);
            if keys.is_empty() {
                continue;
            }
            let keys = list(&keys);
            let (message, help) = match wrong {
                Clause::Remove => (
                    format!("then belongs into {} ({when}), and this removes {keys}", indexes.join(" or ")),
                    format!("SET {keys} instead: without, queries of the index do not return the item"),
                ),
                _ => (
                    format!("then leaves {} ({when}), and this sets {keys}", list(&indexes)),
                    format!("REMOVE {keys} instead: otherwise queries of the index still return the item"),
                ),
            };
            let message = format!("{} {message}", entity.name);
            let finding = self.about_write("P508", Severity::Error, write);
            self.report(finding.with_message(message).with_help(help));
        }
    }

    fn stale(&mut self, write: &Write, entity: &Entity, stale: &StaleKey<'_>, after: &Condition) {
        let StaleKey { index, key, template, causes } = stale;
        let mut presences = KeySources::new(self.model, entity).presences(|name| name == *key);
        let Some(Presence { indexes, when, .. }) = presences.pop() else { return };
        let set = format!("SET {key} = :{}", key.to_lowercase());
        let help = match fate(&when, after, entity) {
            Fate::Outside => format!("the item leaves {} ({when}): REMOVE {key}", list(&indexes)),
            Fate::Inside => format!("also set {key}: {set}"),
            Fate::Open if when.is_empty() => format!("also set {key}: {set}"),
            Fate::Open => format!("also {set} where {when}, and REMOVE {key} elsewhere"),
        };
        let message = format!(
            "{} of {} changes, and {key} ({template} in {index}) does not: the index would be stale",
            list(causes),
            entity.name
        );
        let finding = self.about_write("P508", Severity::Error, write);
        self.report(finding.with_message(message).with_help(help));
    }
}

/// Those of some key attributes that a clause changes.
fn changed<'m>(keys: &[&'m str], expression: &UpdateExpression, clause: Clause) -> Vec<&'m str> {
    let changes = |key: &str| {
        let mut own = expression.changes.iter().filter(|change| change.path.attribute == key);
        own.any(|change| change.clause == clause && !change.is_idle())
    };
    keys.iter().copied().filter(|key| changes(key)).collect()
}
