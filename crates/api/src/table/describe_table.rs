//! DescribeTable: what a table is.

use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct DescribeTable {
    pub name: TableName,
}

pub type DescribeTableOutput = crate::table::create_table::CreateTableOutput;
