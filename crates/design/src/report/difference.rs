//! The difference between two versions of a model: structure, items to rewrite, findings, cost.

mod entities;
mod rules;
mod values;

use crate::capacity::cost::{Cost, cost};
use crate::capacity::estimate::count;
use crate::capacity::prices::Prices;
use crate::check::check;
use crate::finding::Finding;
use crate::formatting::format_number;
use crate::keys::key_mapping::TableOrIndex;
use crate::keys::keyspace::Keyspace;
use crate::model::Model;
use crate::plan::{Plan, Unserved, plans};
use crate::report::summary;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The difference between two versions of a model.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The changes of structure.
    pub changes: Vec<Change>,
    /// Errors and warnings that only the new version has.
    pub appeared: Vec<Finding>,
    /// Errors and warnings that only the old version has.
    pub disappeared: Vec<Finding>,
    /// The cost of the old version.
    pub before: Cost,
    /// The cost of the new version.
    pub after: Cost,
}

/// A change of structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// A description.
    pub what: String,
    /// The items that must be written for it.
    pub rewrites: f64,
}

/// Compares two versions of a model.
pub fn difference(old: &Model, new: &Model, prices: &Prices) -> Difference {
    let mut changes = Vec::new();
    tables(old, new, &mut changes);
    indexes(old, new, &mut changes);
    entities::entities(old, new, &mut changes);
    patterns(old, new, &mut changes);
    writes(old, new, &mut changes);
    let problems = |model: &Model| -> Vec<Finding> {
        check(model).findings.into_iter().filter(Finding::is_problem).collect()
    };
    let (before, after) = (problems(old), problems(new));
    let key = |finding: &Finding| (finding.code, finding.subject.clone());
    let only = |mine: &[Finding], other: &[Finding]| -> Vec<Finding> {
        let known: BTreeSet<_> = other.iter().map(key).collect();
        mine.iter().filter(|finding| !known.contains(&key(finding))).cloned().collect()
    };
    Difference {
        changes,
        appeared: only(&after, &before),
        disappeared: only(&before, &after),
        before: cost(old, prices),
        after: cost(new, prices),
    }
}

fn push(changes: &mut Vec<Change>, what: String, rewrites: f64) {
    changes.push(Change { what, rewrites });
}

fn tables(old: &Model, new: &Model, changes: &mut Vec<Change>) {
    if old.table.name != new.table.name {
        push(changes, format!("table: {} becomes {}", old.table.name, new.table.name), 0.0);
    }
    if old.table.keys != new.table.keys {
        let all = old.entities.iter().map(|entity| count(old, entity)).sum();
        push(
            changes,
            format!("table: keys {:?} become {:?}: a new table", old.table.keys, new.table.keys),
            all,
        );
    }
    let table = TableOrIndex { index: None };
    if old.table.keys == new.table.keys && are_other_numbers(old, table, new, table) {
        let all = old.entities.iter().map(|entity| count(old, entity)).sum();
        push(changes, "table: keys of another type: a new table".to_owned(), all);
    }
    if old.table.type_attribute != new.table.type_attribute {
        let all = old.entities.iter().map(|entity| count(old, entity)).sum();
        push(changes, "table: another type attribute".to_owned(), all);
    }
    rules::changed(rules::table_rules(&old.table), rules::table_rules(&new.table))
        .for_each(|change| push(changes, format!("table: {change}"), 0.0));
}

/// Returns whether a key attribute holds numbers in one model and texts in the other.
fn are_other_numbers<'m>(
    old: &'m Model,
    before: TableOrIndex<'m>,
    new: &'m Model,
    after: TableOrIndex<'m>,
) -> bool {
    let positions = 0..before.key_names(old).len().min(after.key_names(new).len());
    positions
        .into_iter()
        .any(|position| before.key_is_number(old, position) != after.key_is_number(new, position))
}

fn indexes(old: &Model, new: &Model, changes: &mut Vec<Change>) {
    for index in &new.indexes {
        match old.index(&index.name) {
            None if index.local => {
                push(changes, format!("+ index {}: local, so a new table", index.name), 0.0)
            }
            None => push(
                changes,
                format!("+ index {}: added online, backfilled by the database", index.name),
                0.0,
            ),
            Some(before)
                if before.halves() != index.halves()
                    || before.project != index.project
                    || before.local != index.local
                    || are_other_numbers(
                        old,
                        TableOrIndex { index: Some(before) },
                        new,
                        TableOrIndex { index: Some(index) },
                    ) =>
            {
                push(changes, format!("~ index {}: must be removed and added again", index.name), 0.0);
            }
            Some(_) => {}
        }
    }
    for index in old.indexes.iter().filter(|index| new.index(&index.name).is_none()) {
        push(changes, format!("- index {}", index.name), 0.0);
    }
}

fn patterns(old: &Model, new: &Model, changes: &mut Vec<Change>) {
    let [before, after] = [old, new].map(|model| plans(&Keyspace::new(model)));
    let describe = |model: &Model, plan: &Result<Plan<'_>, Unserved<'_>>| match plan {
        Ok(plan) => summary(model, plan),
        Err(_) => "not served".to_owned(),
    };
    let names: BTreeSet<&str> =
        old.patterns.iter().chain(&new.patterns).map(|pattern| pattern.name.as_str()).collect();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        match (was.map(|plan| describe(old, plan)), is.map(|plan| describe(new, plan))) {
            (None, Some(after)) => push(changes, format!("+ pattern {name}: {after}"), 0.0),
            (Some(_), None) => push(changes, format!("- pattern {name}"), 0.0),
            (Some(before), Some(after)) if before != after => {
                push(changes, format!("~ pattern {name}: {before} becomes {after}"), 0.0);
            }
            _ => {}
        }
    }
}

fn writes(old: &Model, new: &Model, changes: &mut Vec<Change>) {
    let units = |model: &Model, name: &str| {
        let write = model.writes.iter().find(|write| write.name == name)?;
        Some(crate::capacity::write_effects::units(model, write))
    };
    let names: BTreeSet<&str> =
        old.writes.iter().chain(&new.writes).map(|write| write.name.as_str()).collect();
    for name in names {
        match (units(old, name), units(new, name)) {
            (None, Some(after)) => {
                push(changes, format!("+ write {name}: {} write units", format_number(after)), 0.0)
            }
            (Some(_), None) => push(changes, format!("- write {name}"), 0.0),
            (Some(before), Some(after)) if before != after => {
                push(
                    changes,
                    format!(
                        "~ write {name}: {} write units become {}",
                        format_number(before),
                        format_number(after)
                    ),
                    0.0,
                );
            }
            _ => {}
        }
    }
}

impl Difference {
    /// Returns whether an error or a warning appeared.
    pub fn is_worse(&self) -> bool {
        !self.appeared.is_empty()
    }

    /// Returns the number of items that must be written for all changes.
    pub fn rewrites(&self) -> f64 {
        self.changes.iter().map(|change| change.rewrites).sum()
    }

    /// Formats the difference as text.
    pub fn text(&self, prices: &Prices) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let rewrites = if change.rewrites > 0.0 {
                format!(" ({} writes)", format_number(change.rewrites))
            } else {
                String::new()
            };
            text.push_str(&format!("{}{rewrites}\n", change.what));
        }
        if self.changes.is_empty() {
            text.push_str("no change in structure\n");
        }
        for (sign, findings) in [("new", &self.appeared), ("gone", &self.disappeared)] {
            for finding in findings {
                text.push_str(&format!(
                    "{sign} {}[{}] {}: {}\n",
                    finding.severity.name(),
                    finding.code,
                    finding.subject,
                    finding.message
                ));
            }
        }
        let (before, after) =
            (self.before.single_table.on_demand(prices), self.after.single_table.on_demand(prices));
        text.push_str(&format!(
            "\non demand {before:.2} → {after:.2} {} a month ({:+.2}); items to write for the change: {}\n",
            prices.currency,
            after - before,
            format_number(self.rewrites())
        ));
        text
    }

    /// Formats the difference as JSON.
    pub fn json(&self, prices: &Prices) -> Value {
        let findings = |findings: &[Finding]| -> Vec<Value> {
            let one = |f: &Finding| json!({ "code": f.code, "severity": f.severity.name(), "subject": f.subject, "message": f.message });
            findings.iter().map(one).collect()
        };
        json!({
            "changes": self.changes.iter().map(|change| json!({ "what": change.what, "writes": change.rewrites })).collect::<Vec<_>>(),
            "appeared": findings(&self.appeared),
            "disappeared": findings(&self.disappeared),
            "before": crate::report::cost::json(&self.before, prices),
            "after": crate::report::cost::json(&self.after, prices),
        })
    }
}
