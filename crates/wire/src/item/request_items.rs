//! `RequestItems` of BatchGetItem and BatchWriteItem: a map from tables to what is wanted of each.

use crate::table::table_name;
use crate::validation::{NAME_PATTERN, Validation};
use partita_api::Exception;
use std::borrow::Cow;
use std::collections::HashSet;

/// What is wanted of one table, as sent.
#[derive(Debug)]
pub(crate) struct TableEntry<'a, T> {
    pub(crate) table: Cow<'a, str>,
    /// The JSON of the entry, for errors that repeat it.
    pub(crate) json: &'a str,
    pub(crate) wanted: T,
}

/// Checks that there is a map and that its keys are tables' names.
pub(crate) fn validate<T>(validation: &mut Validation, entries: &Option<Vec<TableEntry<'_, T>>>) {
    let Some(entries) = validation.required("requestItems", entries) else { return };
    if entries.iter().any(|entry| table_name::check("", Some(&entry.table)).is_err()) {
        let constraint = format_args!(
            "Map keys must satisfy constraint: [Member must have length less than or equal to 255, \
             Member must have length greater than or equal to 3, \
             Member must satisfy regular expression pattern: {NAME_PATTERN}]"
        );
        validation.fail("requestItems", echo(entries), constraint);
    }
}

/// The whole map as AWS repeats it.
pub(crate) fn echo<T>(entries: &[TableEntry<'_, T>]) -> String {
    let entries: Vec<_> = entries.iter().map(|entry| format!("{}={}", entry.table, entry.json)).collect();
    format!("{{{}}}", entries.join(", "))
}

/// There must be a table, and each may be named only once, be it by name or by ARN.
pub(crate) fn check_tables<T>(entries: &[TableEntry<'_, T>], operation: &str) -> Result<(), Exception> {
    if entries.is_empty() {
        return Err(Exception::validation(format!("The requestItems parameter is required for {operation}")));
    }
    let mut tables = HashSet::new();
    if entries.iter().all(|entry| tables.insert(table_name::resolve(&entry.table))) {
        return Ok(());
    }
    Err(Exception::validation("Provided list of table names contains duplicates"))
}
