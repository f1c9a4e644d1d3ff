//! DescribeTable: the description of a table.

use crate::table::table_output::TableOutput;
use partita_value::names::TableName;

/// The request of DescribeTable.
#[derive(Clone, Debug)]
pub struct DescribeTable {
    /// The table.
    pub name: TableName,
}

/// The response to DescribeTable.
pub type DescribeTableOutput = TableOutput;
