//! Patterns whose calls send a request for each of many shards, time buckets or listed values.

use super::FindingText;
use crate::check::Checker;
use crate::finding::Severity;
use crate::formatting::{format_number, thousands};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Entity, Index, Pattern};
use crate::plan::afterwards::Afterwards;
use crate::plan::scatter::MAX_REQUESTS;
use crate::plan::{Plan, Step};
use crate::repair::{Edit, Repair};

/// From this many requests a call on, a scattered read is a warning.
const MANY_REQUESTS: u64 = 1_000;

/// What makes requests fewer.
const FEWER: &str =
    "declare fewer shards, a shorter range or larger time buckets, or name in `in` what the caller knows";

/// The text for a pattern that no caller would send.
pub(super) fn refused(location: &str, requests: u64, factors: &[(u64, String)], add: &str) -> FindingText {
    let factors: Vec<String> =
        factors.iter().map(|(number, what)| format!("{} {what}", format_number(*number as f64))).collect();
    let message = format!(
        "each call would send {} requests to {location}, one for each of {}; it is served by at most {}",
        format_number(requests as f64),
        factors.join(" × "),
        thousands(MAX_REQUESTS)
    );
    ("P135", message, format!("{FEWER}; or {add}"))
}

/// The number of shards with which a call sends no more requests than are usual.
pub(super) fn fewer_shards(location: TableOrIndex<'_>, entity: &Entity, requests: u64) -> Option<Repair> {
    let all = location.mapping(entity)?.shards();
    let count = MANY_REQUESTS / (requests / all).max(1);
    if count == 0 || count >= all {
        return None;
    }
    let has_own = |index: &&Index| entity.index_key(&index.name).is_some_and(|own| own.shard.is_some());
    let place = match location.index.filter(has_own) {
        Some(index) => vec!["entity", &entity.name, "index", &index.name, "shard", "count"],
        None => vec!["entity", &entity.name, "shard", "count"],
    };
    let help = format!("declare shard.count = {count} for {}", entity.name);
    Some(Repair { help, edits: vec![Edit::set(&place, count.to_string())] })
}

impl<'m> Checker<'m> {
    pub(super) fn scattered(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        let is_in_turn =
            |step: &Step<'m>| step.afterwards.iter().any(|work| matches!(work, Afterwards::InTurn { .. }));
        let sent_at_once = |step: &&Step<'m>| step.follow.is_none() && !is_in_turn(step);
        let Some(step) = plan.steps.first().filter(sent_at_once).filter(|_| !pattern.is_rare()) else {
            return;
        };
        if step.fan_out <= MANY_REQUESTS as f64 || step.fan_out_basis.is_assumed() {
            return;
        }
        let finding = self.about_pattern("P135", Severity::Warning, pattern);
        let message = format!(
            "each call sends {} requests to {}, and merges what they return",
            format_number(step.fan_out),
            step.location.name()
        );
        let repair = fewer_shards(step.location, step.targets[0], step.fan_out as u64);
        let help = format!("{FEWER}; or declare importance = \"rare\"");
        self.report(
            finding.with_message(message).with_help(help).with_proposals(repair.into_iter().collect()),
        );
    }
}
