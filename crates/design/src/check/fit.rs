//! Rules about the model as a whole: whether a single table is the right choice.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::Entity;
use std::collections::BTreeMap;

/// Codes about whether a single table is the right choice. What serves a pattern does not answer that, and can only bring the question up.
pub(crate) const ABOUT_THE_CHOICE: [&str; 2] = ["P601", "P602"];

impl<'m> Checker<'m> {
    pub fn fit(&mut self) {
        let model = self.model;
        if model.entities.len() < 2 {
            return;
        }
        self.too_early();
        let together =
            self.plans.values().flatten().any(|plan| plan.steps.iter().any(|step| step.targets.len() > 1));
        let shared = model.entities.iter().any(|entity| self.keys.shares_collections(entity));
        if !shared {
            self.relational();
        }
        let proved = self.plans.values().all(Result::is_ok);
        // A copy is with its original because both are written in one transaction.
        let mut own = model.entities.iter().filter(|entity| entity.copies.is_none());
        let (Some(first), Some(second)) = (own.next(), own.next()) else {
            return self.profiles();
        };
        if !together && proved && !model.patterns.is_empty() {
            let severity = if shared { Severity::Note } else { Severity::Warning };
            let finding = Finding::new("P602", severity, "table", &model.table.span);
            self.report(
                finding
                    .with_message(format!(
                        "{} entities share the table, but no pattern reads two of them together",
                        model.entities.len()
                    ))
                    .with_help(format!(
                        "add the pattern that benefits (out = [\"{}\", \"{}*\"]), or use a table per entity",
                        first.name, second.name
                    )),
            );
        }
        self.profiles();
    }

    /// The team, the patterns or the project speak against a single table.
    fn too_early(&mut self) {
        let context = &self.model.context;
        let reasons = [
            (context.team_is_new, "the team is new to DynamoDB"),
            (context.patterns_are_unknown, "the patterns are not known yet"),
            (context.life_is_short, "the project is short-lived"),
        ];
        let reasons: Vec<&str> =
            reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect();
        if !reasons.is_empty() {
            let finding = Finding::new("P604", Severity::Warning, "context", &context.span);
            self.report(
                finding
                    .with_message(format!("a single table may be premature: {}", list(&reasons)))
                    .with_help("start with a table per entity, and consolidate once the patterns are stable"),
            );
        }
    }

    /// Every entity is in partitions of its own, with foreign keys between them and patterns that would need a join.
    fn relational(&mut self) {
        let model = self.model;
        let foreign = |entity: &Entity, name: &str| {
            entity.attribute(name).is_some()
                && !entity.has_key_field(name)
                && model.owner_of(name).is_some_and(|owner| owner.name != entity.name)
        };
        let joins: Vec<&str> = model
            .patterns
            .iter()
            .filter(|pattern| matches!(self.plans.get(pattern.name.as_str()), Some(Err(_))))
            .filter(|pattern| {
                let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
                targets.into_iter().any(|entity| pattern.inputs.iter().any(|input| foreign(entity, input)))
            })
            .map(|pattern| pattern.name.as_str())
            .collect();
        if !joins.is_empty() {
            let finding = Finding::new("P601", Severity::Warning, "table", &model.table.span);
            self.report(
                finding
                    .with_message(format!("this is a relational schema: every entity has partitions of its own, and {} would need a join", list(&joins)))
                    .with_help("store a child under its parent's partition key: USER#{userId} / ORDER#{orderId}"),
            );
        }
    }

    /// An entity that is written far more often than all others, and never read with them.
    fn profiles(&mut self) {
        let model = self.model;
        let mut rates: BTreeMap<&str, f64> = BTreeMap::new();
        for write in &model.writes {
            for action in &write.actions {
                *rates.entry(action.entity.as_str()).or_default() += write.rps.unwrap_or_default();
            }
        }
        let all: f64 = rates.values().sum();
        for entity in &model.entities {
            let own = rates.get(entity.name.as_str()).copied().unwrap_or_default();
            // At most one entity has more than 90 % of the writes.
            if own < 100.0 || own < all * 0.9 {
                continue;
            }
            let others: f64 =
                rates.iter().filter(|(name, _)| **name != entity.name).map(|(_, rate)| rate).sum();
            if others > 0.0 && own / others >= 50.0 && !self.keys.shares_collections(entity) {
                let finding = self.about_entity("P603", Severity::Note, entity);
                let message = format!(
                    "{} is written {:.0} times as often as everything else, and never read with it",
                    entity.name,
                    own / others
                );
                self.report(finding.with_message(message).with_help("give it a table of its own"));
            }
        }
    }
}
