//! Patterns whose calls send a request for each of many shards, time buckets or listed values.

use super::FindingText;
use crate::check::Checker;
use crate::finding::Severity;
use crate::formatting::{format_number, thousands};
use crate::model::Pattern;
use crate::plan::afterwards::Afterwards;
use crate::plan::scatter::MAX_REQUESTS;
use crate::plan::{Plan, Step};

/// From this many requests a call on, a scattered read is a warning.
const MANY_REQUESTS: f64 = 1_000.0;

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

impl<'m> Checker<'m> {
    pub(super) fn scattered(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        let is_in_turn =
            |step: &Step<'m>| step.afterwards.iter().any(|work| matches!(work, Afterwards::InTurn { .. }));
        let sent_at_once = |step: &&Step<'m>| step.follow.is_none() && !is_in_turn(step);
        let Some(step) = plan.steps.first().filter(sent_at_once).filter(|_| !pattern.is_rare()) else {
            return;
        };
        if step.fan_out <= MANY_REQUESTS || step.fan_out_basis.is_assumed() {
            return;
        }
        let finding = self.about_pattern("P135", Severity::Warning, pattern);
        let message = format!(
            "each call sends {} requests to {}, and merges what they return",
            format_number(step.fan_out),
            step.location.name()
        );
        self.report(
            finding.with_message(message).with_help(format!("{FEWER}; or declare importance = \"rare\"")),
        );
    }
}
