//! Counts what a migration does to a table's items.

use super::actions::{Action, transaction_units};
use super::ledger::LedgerFindings;
use super::plan::{Fate, Plan};
use partita_design::audit::Violation;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many keys are printed.
pub const MAX_PRINTED: usize = 20;

/// What is said about items of which several have been made.
pub const TWINS: &str = "items are there several times in their new form: delete what is outdated, or declare an `identity` that tells them apart";

/// What happens to items of entities that the new model does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// They are deleted.
    Deleted,
    /// They are left in their table.
    Left,
    /// They are not copied into the new tables.
    NotCopied,
    /// They are not copied into the new tables, as the user wants it.
    GivenUp,
}

/// Items that something stands against: how many, and the first of them.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedItems {
    count: u64,
    first: Vec<String>,
}

impl NamedItems {
    pub fn add(&mut self, item: String) {
        self.count += 1;
        if self.first.len() < MAX_PRINTED {
            self.first.push(item);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn print(&self, what: &str) {
        if self.count > 0 {
            println!("{:>10} {what}", self.count);
            print_some(&self.first, self.count);
        }
    }
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
    /// Markers with another expiry than their items, or without attributes that the application stores in them.
    pub updated_markers: u64,
    /// Copies that were missing.
    pub copies: u64,
    /// Copies with other values than their originals.
    pub updated_copies: u64,
    /// Items whose aggregates are missing or wrong.
    #[serde(skip)]
    pub aggregates: u64,
    /// Markers and copies that get another key, or belong to no item.
    pub removed: u64,
    /// Markers and copies that were read.
    pub derived: u64,
    /// Markers and future copies that have values of their own and belong to no item.
    #[serde(skip)]
    pub stranded: u64,
    /// Items that the application changed whenever they were to be written.
    pub contended: u64,
    /// Items whose new key another item has: their new keys.
    blocked: NamedItems,
    /// Items that are there in both forms.
    paired: NamedItems,
    /// Items that are several in their new form and were one.
    #[serde(skip)]
    pub twins: NamedItems,
    /// Items that would change again in their new form, by entity.
    unstable: BTreeMap<String, u64>,
    /// Items without a value that the new model requires, by entity and attribute.
    pub missing: BTreeMap<String, u64>,
    /// Items that will break a rule of the new model.
    #[serde(skip)]
    invalid: NamedItems,
    /// Items of types that the new model does not have.
    pub gone: BTreeMap<String, u64>,
    /// Items that are left alone, by what stands against them.
    left: BTreeMap<String, NamedItems>,
}

impl MigrationSummary {
    pub fn add(&mut self, plan: &Plan) {
        match plan.fate {
            Fate::Kept => self.kept += 1,
            Fate::Changed => self.changed += 1,
            Fate::Moved => self.moved += 1,
            Fate::Blocked | Fate::Paired | Fate::Unstable | Fate::Left => {}
        }
        plan.left.iter().for_each(|(reason, key)| self.add_left(reason, key.clone()));
        plan.pair.iter().for_each(|pair| self.paired.add(pair.clone()));
        self.markers += plan.markers;
        self.updated_markers += plan.updated_markers;
        self.copies += plan.copies;
        self.updated_copies += plan.updated_copies;
        self.removed += plan.removed;
        let units: Vec<u64> = plan.actions.iter().map(Action::write_units).collect();
        self.units += transaction_units(&units);
    }

    /// Adds an item that is left alone.
    pub fn add_left(&mut self, reason: &str, key: String) {
        if !self.left.contains_key(reason) {
            self.left.insert(reason.to_owned(), NamedItems::default());
        }
        self.left.get_mut(reason).into_iter().for_each(|left| left.add(key.clone()));
    }

    /// Adds an item that will not be right in its new form.
    pub fn add_invalid(&mut self, violations: &[Violation]) {
        violations.first().into_iter().for_each(|first| self.invalid.add(first.message.clone()));
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
            (&mut self.updated_markers, earlier.updated_markers),
            (&mut self.copies, earlier.copies),
            (&mut self.updated_copies, earlier.updated_copies),
            (&mut self.removed, earlier.removed),
        ] {
            *own += earlier;
        }
    }

    pub fn add_blocked(&mut self, key: String) {
        self.blocked.add(key);
    }

    /// Adds what only the keys of all items show.
    pub fn add_findings(&mut self, findings: &LedgerFindings, in_place: bool) {
        self.removed += if in_place { findings.orphan_count } else { 0 };
        self.stranded = findings.stranded;
        self.markers = self.markers.saturating_sub(findings.surplus_markers);
    }

    pub fn is_blocked(&self) -> bool {
        self.blocked.count > 0
    }

    pub fn has_pairs(&self) -> bool {
        self.paired.count > 0
    }

    /// Returns whether every item has, or will have, its new form.
    pub fn is_complete(&self, removed: Removed) -> bool {
        let left = self.blocked.count + self.contended + self.stranded + self.invalid.count;
        let left = left + self.paired.count + self.twins.count + self.unstable.values().sum::<u64>();
        let is_wanted = matches!(removed, Removed::Deleted | Removed::GivenUp) || self.gone.is_empty();
        left == 0 && self.left.is_empty() && self.missing.is_empty() && is_wanted
    }

    /// Returns whether there was nothing to write.
    pub fn is_done(&self) -> bool {
        let items = self.changed + self.moved;
        let markers = self.markers + self.updated_markers;
        items + markers + self.copies + self.updated_copies == 0
    }

    pub fn print(&self, removed: Removed) {
        println!("{:>10} items are in their new form", self.kept);
        println!("{:>10} items get other attributes, index keys or another type", self.changed);
        println!("{:>10} items move to another primary key or table", self.moved);
        for (number, what) in [
            (self.markers, "markers of unique values are created"),
            (
                self.updated_markers,
                "markers of unique values get the expiry of their items, or their other attributes",
            ),
            (self.copies, "copies are created"),
            (self.updated_copies, "copies get the values of their originals"),
            (self.aggregates, "items get other aggregates"),
            (self.removed, "markers and copies are removed: they get another key, or belong to no item"),
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
        self.invalid.print("items will break a rule of the new model:");
        for (entity, items) in &self.gone {
            let action = match removed {
                Removed::Deleted => "are deleted",
                Removed::Left => "are left alone; --delete-removed deletes them",
                Removed::NotCopied | Removed::GivenUp => "are not copied",
            };
            println!("{items:>10} items of {entity}, which the new model does not have, {action}");
        }
        for (reason, items) in &self.left {
            items.print(&format!("items are left alone: {reason}"));
        }
        for (entity, items) in &self.unstable {
            println!(
                "{items:>10} items of {entity} in their new form could not be told from those of the old model; nothing is written while \
                 there are any: --into copies them into a new table"
            );
        }
        if self.contended > 0 {
            println!(
                "{:>10} items were changed by the application all the time; run it again",
                self.contended
            );
        }
        self.blocked.print("items are left alone: another item has their new key");
        self.paired.print(
            "items are left alone: they are there in both forms, which do not show which of them was written last; delete the older one",
        );
        self.twins.print(TWINS);
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
