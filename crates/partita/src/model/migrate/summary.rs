//! Counts what a migration does to a table's items.

use super::actions::{Action, MAX_COMPARED};
use super::ledger::LedgerFindings;
use super::plan::{Fate, Plan};
use partita_design::audit::Violation;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many keys are printed.
pub const MAX_PRINTED: usize = 20;

/// What happens to items of entities that the new model does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// They are deleted.
    Deleted,
    /// They are left in their table.
    Left,
    /// They are not copied into the new tables.
    NotCopied,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MigrationSummary {
    pub kept: u64,
    pub changed: u64,
    pub moved: u64,
    pub units: u64,
    /// Markers of unique values that were missing.
    pub markers: u64,
    /// Copies that were missing.
    pub copies: u64,
    /// Copies with other values than their originals.
    pub updated_copies: u64,
    /// Items whose aggregates are missing or wrong.
    #[serde(skip)]
    pub aggregates: u64,
    /// Markers and copies without an item.
    pub removed: u64,
    /// Markers and copies that were read.
    pub derived: u64,
    /// Items that become copies and have no original.
    pub without_original: u64,
    /// Items that the application changed whenever they were to be written.
    pub contended: u64,
    /// Items whose new key another item has.
    blocked: u64,
    /// Their first new keys.
    blocked_keys: Vec<String>,
    /// Items that would change again in their new form, by entity.
    unstable: BTreeMap<String, u64>,
    /// Items with too many attributes to be compared.
    incomparable: u64,
    /// Items without a value that the new model requires, by entity and attribute.
    pub missing: BTreeMap<String, u64>,
    /// Items that will break a rule of the new model.
    #[serde(skip)]
    invalid: u64,
    /// What is wrong with the first of them.
    #[serde(skip)]
    invalid_messages: Vec<String>,
    /// Items of types that the new model does not have.
    pub gone: BTreeMap<String, u64>,
    pub unknown: BTreeMap<String, u64>,
}

impl MigrationSummary {
    pub fn add(&mut self, plan: &Plan) {
        match plan.fate {
            Fate::Kept => self.kept += 1,
            Fate::Changed => self.changed += 1,
            Fate::Moved => self.moved += 1,
            Fate::Incomparable => self.incomparable += 1,
            Fate::Blocked | Fate::Unstable => {}
        }
        self.markers += plan.markers;
        self.copies += plan.copies;
        self.updated_copies += plan.updated_copies;
        self.removed += plan.removed;
        let units: u64 = plan.actions.iter().map(Action::write_units).sum();
        // A transaction takes twice the units.
        self.units += if plan.actions.len() > 1 { units * 2 } else { units };
    }

    /// Adds an item that will not be right in its new form.
    pub fn add_invalid(&mut self, violations: &[Violation]) {
        let Some(first) = violations.first() else { return };
        self.invalid += 1;
        if self.invalid_messages.len() < MAX_PRINTED {
            self.invalid_messages.push(first.message.clone());
        }
    }

    pub fn add_unstable(&mut self, entity: &str) {
        *self.unstable.entry(entity.to_owned()).or_default() += 1;
    }

    /// Whether nothing may be written: items in their new form could not be told from others.
    pub fn forbids_writing(&self) -> bool {
        !self.unstable.is_empty()
    }

    /// Adds what was done before.
    pub fn continue_from(&mut self, earlier: &MigrationSummary) {
        for (own, earlier) in [
            (&mut self.changed, earlier.changed),
            (&mut self.moved, earlier.moved),
            (&mut self.units, earlier.units),
            (&mut self.markers, earlier.markers),
            (&mut self.copies, earlier.copies),
            (&mut self.updated_copies, earlier.updated_copies),
            (&mut self.removed, earlier.removed),
        ] {
            *own += earlier;
        }
    }

    pub fn add_blocked(&mut self, key: String) {
        self.blocked += 1;
        if self.blocked_keys.len() < MAX_PRINTED {
            self.blocked_keys.push(key);
        }
    }

    /// Adds what only the keys of all items show. What is blocked now is free once the other item has moved.
    pub fn add_findings(&mut self, findings: &LedgerFindings, in_place: bool) {
        self.removed += if in_place { findings.orphans.len() as u64 } else { 0 };
        self.without_original = findings.without_original;
        self.markers = self.markers.saturating_sub(findings.surplus_markers);
        if in_place {
            self.moved += self.blocked;
            (self.blocked, self.blocked_keys) = (0, Vec::new());
        }
    }

    pub fn is_blocked(&self) -> bool {
        self.blocked > 0
    }

    /// Returns whether every item has, or will have, its new form.
    pub fn is_complete(&self, removed: Removed) -> bool {
        let left = self.blocked + self.contended + self.without_original + self.invalid + self.incomparable;
        let left = left + self.unstable.values().sum::<u64>();
        let is_nothing_lost = removed == Removed::Deleted || self.gone.is_empty();
        left == 0 && self.unknown.is_empty() && self.missing.is_empty() && is_nothing_lost
    }

    pub fn print(&self, removed: Removed) {
        println!("{:>10} items are in their new form", self.kept);
        println!("{:>10} items get other attributes, index keys or another type", self.changed);
        println!("{:>10} items move to another primary key or table", self.moved);
        for (number, what) in [
            (self.markers, "markers of unique values are created"),
            (self.copies, "copies are created"),
            (self.updated_copies, "copies get the values of their originals"),
            (self.aggregates, "items get other aggregates"),
            (self.removed, "markers and copies that belong to no item are removed"),
        ] {
            if number > 0 {
                println!("{number:>10} {what}");
            }
        }
        let cost = Prices::parse(DEFAULT_PRICES).map(|prices| {
            let money = self.units as f64 / 1e6 * prices.million_writes;
            format!(": {money:.2} {} on demand, prices of {}", prices.currency, prices.date)
        });
        println!("{:>10} write units, indexes not included{}", self.units, cost.unwrap_or_default());
        self.print_problems(removed);
    }

    pub fn print_problems(&self, removed: Removed) {
        for (attribute, items) in &self.missing {
            println!(
                "{items:>10} items have no {attribute}, which the new model requires: declare a default, compute it, or make it optional"
            );
        }
        if self.invalid > 0 {
            println!("{:>10} items will break a rule of the new model:", self.invalid);
            print_some(&self.invalid_messages, self.invalid);
        }
        for (entity, items) in &self.gone {
            let action = match removed {
                Removed::Deleted => "are deleted",
                Removed::Left => "are left alone; --delete-removed deletes them",
                Removed::NotCopied => "are not copied",
            };
            println!("{items:>10} items of {entity}, which the new model does not have, {action}");
        }
        for (reason, items) in &self.unknown {
            println!("{items:>10} items are left alone: {reason}");
        }
        if self.without_original > 0 {
            println!(
                "{:>10} items become copies and have no original; they are left alone",
                self.without_original
            );
        }
        for (entity, items) in &self.unstable {
            println!(
                "{items:>10} items of {entity} in their new form could not be told from those of the old model; nothing is written while \
                 there are any: --into copies them into a new table"
            );
        }
        if self.incomparable > 0 {
            println!(
                "{:>10} items are left alone: a condition compares {MAX_COMPARED} attributes, and what changes beyond them while they move would be \
                 lost; --follow or --into moves them",
                self.incomparable
            );
        }
        if self.contended > 0 {
            println!(
                "{:>10} items were changed by the application all the time; run it again",
                self.contended
            );
        }
        if self.blocked > 0 {
            println!("{:>10} items are left alone: another item has their new key", self.blocked);
            print_some(&self.blocked_keys, self.blocked);
        }
    }
}

/// Prints the first of many.
pub fn print_some(lines: &[String], total: u64) {
    lines.iter().for_each(|line| println!("           {line}"));
    let rest = total.saturating_sub(lines.len() as u64);
    if rest > 0 {
        println!("           and {rest} more");
    }
}
