//! Rules about growth: limits that the figures expected in a year exceed.

use super::Checker;
use crate::capacity::growth::{self, MONTHS};
use crate::finding::{Finding, Severity};

impl Checker<'_> {
    pub fn growth(&mut self) {
        if !growth::is_declared(self.model) {
            return;
        }
        // What is exceeded today is reported by other rules.
        for one in growth::breaks(self.model).into_iter().filter(|one| one.month > 0) {
            let excess = one.excess;
            let is_grave = excess.limit.is_hard() && !excess.basis.is_assumed();
            let severity = if is_grave { Severity::Warning } else { Severity::Note };
            let message = format!(
                "in month {} of {MONTHS}, {}{} exceeds the limit: {}",
                one.month,
                excess.text,
                excess.basis.mark(),
                excess.limit.name()
            );
            let finding = Finding::new("P406", severity, &excess.subject, &excess.span);
            let help = "`partita model growth` shows every month; change the key before then, or expect less";
            self.report(finding.with_message(message).with_help(help));
        }
    }
}
