//! Declared writes from the statements and transactions of a log.

use super::entities::Entities;
use super::naming::camel;
use super::query::{Check, Statement};
use super::query_log::{QueryLog, Tally};
use crate::formatting::{lower_first, upper_first};
use crate::model::expression::{Aliases, ConditionExpression};
use crate::model::{Action, Verb, Write};
use std::collections::BTreeSet;

/// A write, as it was observed.
pub(super) struct Observed {
    pub write: Write,
    /// How often it was sent.
    pub tally: Tally,
    /// How its updates and deletes find their items.
    pub found: Vec<Found>,
    /// Tests that no condition expression was written for.
    pub untested: Vec<String>,
}

/// The attributes by which a statement finds the item that it changes, and how often it was sent.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub table: usize,
    pub by: Vec<String>,
    pub count: u64,
}

/// How the updates and deletes among statements find their items.
fn found(statements: &[Statement], tally: &Tally, entities: &Entities<'_>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for statement in statements {
        let (Statement::Update { table, row, .. } | Statement::Delete { table, row }) = statement else {
            continue;
        };
        let by = entities.attributes(*table, &row.by);
        if !by.is_empty() && !all.iter().any(|own| own.table == *table && own.by == by) {
            all.push(Found { table: *table, by, count: tally.count });
        }
    }
    all
}

/// How all updates and deletes of a log find their items.
pub(super) fn all_found(log: &QueryLog, entities: &Entities<'_>) -> Vec<Found> {
    written_together(log).flat_map(|(statements, tally)| found(statements, tally, entities)).collect()
}

/// The statements of a log that are sent together, single ones first.
fn written_together(log: &QueryLog) -> impl Iterator<Item = (&[Statement], &Tally)> {
    let single = log.observed.iter().map(|(statement, tally)| (std::slice::from_ref(statement), tally));
    single.chain(log.transactions.iter().map(|(statements, tally)| (statements.as_slice(), tally)))
}

/// The writes of a log, single ones first.
pub(super) fn from_log(
    log: &QueryLog,
    entities: &Entities<'_>,
    rate: impl Fn(u64) -> Option<f64>,
) -> Vec<Observed> {
    let mut taken = BTreeSet::new();
    let mut writes = Vec::new();
    for (statements, tally) in written_together(log) {
        let actions = actions(statements, entities);
        let Some(first) = actions.first() else { continue };
        let transact = statements.len() > 1;
        let name = name(first, transact, &mut taken);
        let untested = statements.iter().flat_map(checks).filter_map(|check| match check {
            Check::Other(text) => Some(text.clone()),
            Check::Compare(..) | Check::Null(..) => None,
        });
        writes.push(Observed {
            untested: untested.collect(),
            write: Write { name, actions, transact, rps: rate(tally.count), ..Write::default() },
            tally: tally.clone(),
            found: found(statements, tally, entities),
        });
    }
    writes
}

/// The actions of a transaction; what is written twice is written any number of times.
fn actions(statements: &[Statement], entities: &Entities<'_>) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for action in statements.iter().filter_map(|statement| action(statement, entities)) {
        let same = |own: &&mut Action| {
            own.verb == action.verb
                && own.entity == action.entity
                && own.set == action.set
                && own.condition == action.condition
        };
        match actions.iter_mut().find(same) {
            Some(own) => own.many = true,
            None => actions.push(action),
        }
    }
    actions
}

fn action(statement: &Statement, entities: &Entities<'_>) -> Option<Action> {
    let (verb, table, set) = match statement {
        Statement::Insert { table, replaces: false } => (Verb::Create, *table, Vec::new()),
        Statement::Insert { table, replaces: true } => (Verb::Put, *table, Vec::new()),
        Statement::Update { table, set, .. } => (Verb::Update, *table, entities.attributes(*table, set)),
        Statement::Delete { table, .. } => (Verb::Delete, *table, Vec::new()),
        _ => return None,
    };
    let condition = condition(checks(statement), table, entities);
    Some(Action { set, condition, ..Action::new(verb, &entities.names[table]) })
}

/// What a statement tests besides the key.
fn checks(statement: &Statement) -> &[Check] {
    match statement {
        Statement::Update { row, .. } | Statement::Delete { row, .. } => &row.checks,
        _ => &[],
    }
}

/// The condition expression of what a statement tests: a compare-and-set stays one.
fn condition(checks: &[Check], table: usize, entities: &Entities<'_>) -> Option<ConditionExpression> {
    let mut tests: Vec<String> = Vec::new();
    for check in checks {
        let number = tests.iter().filter(|test| test.contains(":before")).count() + 1;
        let value = if number == 1 { ":before".to_owned() } else { format!(":before{number}") };
        tests.extend(match check {
            Check::Compare(column, operator) => {
                Some(format!("#{} {operator} {value}", entities.attribute(table, column)))
            }
            Check::Null(column, absent) => {
                let function = if *absent { "attribute_not_exists" } else { "attribute_exists" };
                Some(format!("{function}(#{})", entities.attribute(table, column)))
            }
            Check::Other(_) => None,
        });
    }
    ConditionExpression::parse(&tests.join(" AND "), &Aliases::default()).ok()
}

fn name(first: &Action, transact: bool, taken: &mut BTreeSet<String>) -> String {
    let verb = if transact && first.verb == Verb::Create { "place" } else { first.verb.name() };
    let own = format!("{}{}", lower_first(verb), upper_first(&first.entity));
    let set: Vec<String> = first.set.iter().take(3).map(|attribute| camel(attribute)).collect();
    let longer = format!("{own}{}", set.join("And"));
    let numbered = (2..).map(|number| format!("{longer}{number}"));
    let free = [own, longer.clone()].into_iter().chain(numbered).find(|name| taken.insert(name.clone()));
    free.unwrap_or_default()
}
