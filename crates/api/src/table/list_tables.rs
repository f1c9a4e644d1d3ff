//! ListTables: names in order, a page at a time.

use partita_value::names::TableName;

/// The request of ListTables.
#[derive(Clone, Debug)]
pub struct ListTables {
    /// The name after which the page starts.
    pub exclusive_start: Option<String>,
    /// The maximum number of names to return.
    pub limit: u32,
}

/// The response to ListTables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListTablesOutput {
    /// The page of names, sorted.
    pub names: Vec<TableName>,
    /// The last name of the page, if there are more.
    pub last_evaluated: Option<TableName>,
}
