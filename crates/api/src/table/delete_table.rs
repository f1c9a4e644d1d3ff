//! DeleteTable: a table, its items and its indexes are gone.

use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct DeleteTable {
    pub name: TableName,
}

pub type DeleteTableOutput = crate::table::create_table::CreateTableOutput;
