//! ListTables: names in order, a page at a time.

use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct ListTables {
    pub exclusive_start: Option<String>,
    pub limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListTablesOutput {
    pub names: Vec<TableName>,
    pub last_evaluated: Option<TableName>,
}
