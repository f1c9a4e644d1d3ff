//! Rules about what matters most: critical patterns take one request, rare ones may take several, and an index for rare ones alone is dear.

use crate::check::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::{format_number, format_quantity, list};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Importance, Pattern};
use crate::plan::follow::Follow;
use crate::plan::{Plan, Step};
use std::collections::BTreeSet;

/// The share of all requests from which on a pattern is frequent.
const FREQUENT: f64 = 0.1;
/// The requests a second from which on a pattern can be frequent.
const LEAST_RATE: f64 = 1.0;

impl<'m> Checker<'m> {
    pub fn importance(&mut self) {
        let model = self.model;
        let all: f64 = model.patterns.iter().filter_map(|pattern| pattern.rps).sum();
        for pattern in &model.patterns {
            let Some(Ok(plan)) = self.plans.get(pattern.name.as_str()) else { continue };
            let plan = plan.clone();
            let rps = pattern.rps.unwrap_or_default();
            match pattern.importance {
                Importance::Critical => self.critical(pattern, &plan),
                Importance::Normal if rps >= LEAST_RATE && rps >= all * FREQUENT => {
                    self.frequent(pattern, &plan, rps)
                }
                Importance::Normal | Importance::Rare => {}
            }
        }
        self.rarely_used();
    }

    /// A critical pattern takes one request and drops nothing that it reads.
    fn critical(&mut self, pattern: &Pattern, plan: &Plan<'m>) {
        let mut causes = Vec::new();
        if plan.steps.len() > 1 && plan.split.is_none() {
            causes.push(("a second read", "project what the pattern needs into the index"));
        }
        if plan.split.is_some() {
            causes.push(("items that are not stored together", "store them under one partition key"));
        }
        if plan.steps.iter().any(|step| step.fan_out > 1.0) {
            causes.push((
                "several shards, buckets or batches",
                "use fewer shards, or a key that the caller knows whole",
            ));
        }
        if plan.steps.iter().any(|step| step.wasteful_requirements().next().is_some()) {
            causes.push(("a filter", "put what is filtered into the key"));
        }
        let long = |step: &Step<'_>| step.pages_of_one() > 1.0 && !step.items.max_basis.is_assumed();
        if plan.steps.iter().any(long) {
            causes.push(("several pages", "set a limit that fits a page"));
        }
        if causes.is_empty() {
            return;
        }
        let (what, help): (Vec<&str>, Vec<&str>) = causes.into_iter().unzip();
        let requests = format_quantity(plan.requests(), "request");
        let finding = self.about_pattern("P605", Severity::Warning, pattern);
        self.report(
            finding
                .with_message(format!("a critical pattern takes {requests}: {}", list(&what)))
                .with_help(format!("{}; or it is not critical", help.join("; "))),
        );
    }

    /// A frequent pattern reads an index and then the table, or an index for each item that leads on.
    fn frequent(&mut self, pattern: &Pattern, plan: &Plan<'m>, rps: f64) {
        let [first, .., second] = plan.steps.as_slice() else { return };
        if plan.split.is_some() {
            return;
        }
        let queried = plan.steps.iter().filter(|step| step.location.index.is_some());
        // The attributes that the index lacks may be read after it.
        if let Some((step, follow)) =
            queried.filter_map(|step| Some((step, step.follow.as_ref()?))).next_back()
        {
            return self.one_by_one(pattern, plan, (step, follow), rps);
        }
        if plan.steps.len() > 2 || first.location.index.is_none() || second.location.index.is_some() {
            return;
        }
        let finding = self.about_pattern("P606", Severity::Note, pattern);
        let message = format!(
            "a frequent pattern reads {} and then the table: {} of its {} read units a second are the second read",
            first.location.name(),
            format_number(second.units() * rps),
            format_number(plan.units() * rps)
        );
        let help =
            "project what it needs into the index, or declare importance = \"rare\" if it may take two steps";
        self.report(finding.with_message(message).with_help(help));
    }

    /// Each item that leads on costs a request of its own.
    fn one_by_one(
        &mut self,
        pattern: &Pattern,
        plan: &Plan<'m>,
        (step, follow): (&Step<'m>, &Follow<'m>),
        rps: f64,
    ) {
        if step.fan_out <= 1.0 {
            return;
        }
        let (from, target) = (follow.from, step.targets[0]);
        let is_held =
            |name: &str| from.attribute(name).is_some() || follow.links.iter().any(|link| link.to == name);
        let lacking: BTreeSet<&str> = target.key_fields().filter(|name| !is_held(name)).collect();
        if lacking.is_empty() {
            return;
        }
        let finding = self.about_pattern("P606", Severity::Warning, pattern);
        let message = format!(
            "a frequent pattern takes {}, {} a second: a Query for each {}",
            format_quantity(plan.requests(), "request"),
            format_number(plan.requests() * rps),
            from.name
        );
        let help = format!(
            "store {} in {}, so that BatchGetItem reads {} by the table's key; or declare importance = \"rare\"",
            list(&lacking.into_iter().collect::<Vec<_>>()),
            from.name,
            target.name
        );
        self.report(finding.with_message(message).with_help(help));
    }

    /// Indexes that only rare patterns use: every write pays for them.
    fn rarely_used(&mut self) {
        let model = self.model;
        for index in model.indexes.iter().filter(|index| !index.local) {
            let users = self.users(index);
            let rare = users.iter().all(|pattern| pattern.is_rare());
            let full = TableOrIndex { index: Some(index) }
                .mappings(model)
                .iter()
                .any(|mapping| !mapping.is_sparse());
            if users.is_empty() || !rare || !full {
                continue;
            }
            let names: Vec<&str> = users.iter().map(|pattern| pattern.name.as_str()).collect();
            let finding = Finding::new("P309", Severity::Note, index.subject(), &index.span);
            let message = format!("only rare patterns use {}: {}", index.name, list(&names));
            let help = "every write pays for it: make it sparse, or let these patterns take several requests";
            self.report(finding.with_message(message).with_help(help));
        }
    }
}
