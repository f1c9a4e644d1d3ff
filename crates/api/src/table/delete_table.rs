//! DeleteTable: removes a table with its items and indexes.

use crate::table::table_output::TableOutput;
use partita_value::names::TableName;

/// The request of DeleteTable.
#[derive(Clone, Debug)]
pub struct DeleteTable {
    /// The table.
    pub name: TableName,
}

/// The response to DeleteTable.
pub type DeleteTableOutput = TableOutput;
