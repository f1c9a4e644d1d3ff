//! Judges what an application writes while its table is migrated: it may write as before, or as afterwards.

use super::Transition;
use super::image::is_marker;
use crate::audit::judge::{Change, judge};
use crate::audit::{Violation, recognise};
use crate::item::{Item, attributes};
use crate::model::Model;

impl Transition<'_> {
    /// Judges the changes of one decision. All its items must be those of the old model or all those of the new one, and the decision must be
    /// right under that model. Returns the violations with the numbers of the changes that cause them.
    pub fn judge(&self, changes: &[Change]) -> Vec<(usize, Violation)> {
        let mut found = Vec::new();
        for (model, other) in [(self.new, self.old), (self.old, self.new)] {
            let foreign = |change: &Change| {
                let mut items = change.old.iter().chain(&change.new);
                items.any(|item| is_of(other, item) && !is_of(model, item))
            };
            if changes.iter().any(foreign) {
                continue;
            }
            let violations = judge(model, changes);
            if violations.is_empty() {
                return violations;
            }
            found.push(violations);
        }
        let mixed = || {
            Violation {
            rule: "type",
            message: "while the table is migrated, a transaction has items of the old model or of the new one, not of both"
                .to_owned(),
            missing: None,
        }
        };
        // What both models refuse is said in the terms of the new one.
        found.into_iter().next().unwrap_or_else(|| vec![(0, mixed())])
    }
}

/// Whether an item is one that the model describes, right or wrong.
fn is_of(model: &Model, item: &Item) -> bool {
    let texts = attributes(item);
    is_marker(model, &texts) || recognise(model, &texts).is_some()
}
