//! Results of several pages, of which a reader must not take the first for all.

use crate::capacity::basis::Basis;
use crate::capacity::estimate::PAGE_BYTES;
use crate::capacity::size;
use crate::check::Checker;
use crate::finding::Severity;
use crate::formatting::{format_bytes, plural};
use crate::model::{Entity, Pattern};
use crate::plan::{Operation, Step};

impl Checker<'_> {
    pub fn pages(&mut self, pattern: &Pattern, step: &Step<'_>) {
        // Without a `Limit`, the caller reads on until it has enough.
        let reads_on = pattern.limit.is_some() && step.limit.is_none() && !pattern.first_page_only;
        if step.operation != Operation::Query || reads_on {
            return;
        }
        let large = step.max_bytes > PAGE_BYTES;
        let is_bounded = step.limit.is_some();
        let is_open = !step.items.is_known() && step.items.max_basis.is_assumed() && !is_bounded;
        let open = is_open && pattern.targets.iter().any(|target| target.many);
        let is_proven = self.certain_bytes(pattern, step) > PAGE_BYTES;
        let severity = match (large, pattern.first_page_only) {
            (true, true) if is_proven => Severity::Error,
            (true, true) => Severity::Warning,
            (true, false) => Severity::Note,
            (false, true) if open => Severity::Warning,
            _ => return,
        };
        let amount = if large {
            let basis = if is_proven { Basis::Derived } else { Basis::Assumed };
            format!("up to {}{}", format_bytes(step.max_bytes), basis.mark())
        } else {
            "an unknown size".to_owned()
        };
        let pages = plural(step.pages_of_one() as u64, "page");
        let message = if pattern.first_page_only {
            format!(
                "only the first page is read, and the result has {amount} ({pages}): the rest is silently lost"
            )
        } else {
            format!("the result has {amount}: {pages}")
        };
        let finding = self.about_pattern("P115", severity, pattern).with_message(message);
        self.report(finding.with_help("continue from LastEvaluatedKey until there is none, or set a limit"));
    }

    /// The size that the largest result has at least, without any assumption: that of its lists, as if all their items were of the
    /// smallest entity.
    fn certain_bytes(&self, pattern: &Pattern, step: &Step<'_>) -> f64 {
        if step.items.max_basis.is_assumed() {
            return 0.0;
        }
        let is_list = |entity: &&Entity| {
            pattern.targets.iter().any(|target| target.many && target.entity == entity.name)
        };
        let (lists, singles): (Vec<&Entity>, Vec<&Entity>) = step.targets.iter().copied().partition(is_list);
        let sizes = lists.iter().filter_map(|entity| step.location.mapping(entity)).map(|mapping| {
            let size = size::entry(self.model, &mapping);
            if size.basis.is_assumed() { 0.0 } else { size.value }
        });
        let smallest = sizes.reduce(f64::min).unwrap_or_default();
        (step.items.max - singles.len() as f64) * smallest
    }
}
