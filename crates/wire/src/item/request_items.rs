//! `RequestItems` of BatchGetItem and BatchWriteItem: a map from tables to keys or writes.

use crate::table::table_name;
use crate::validation::{NAME_PATTERN, Validation};
use partita_api::Exception;
use std::borrow::Cow;
use std::collections::HashSet;

/// The entry of one table.
#[derive(Debug)]
pub(crate) struct TableEntry<'a, T> {
    pub(crate) table: Cow<'a, str>,
    /// The JSON of the entry, for errors that repeat it.
    pub(crate) json: &'a str,
    pub(crate) value: T,
}

/// Checks that the map is present and that its keys are names of tables.
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

/// The map in the form in which AWS repeats it in errors.
pub(crate) fn echo<T>(entries: &[TableEntry<'_, T>]) -> String {
    let entries: Vec<_> = entries.iter().map(|entry| format!("{}={}", entry.table, entry.json)).collect();
    format!("{{{}}}", entries.join(", "))
}

/// Checks that there is a table, and that none is named twice, by name or by ARN.
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
