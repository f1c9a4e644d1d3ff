//! BatchExecuteStatement: up to 25 PartiQL statements, each on its own.

use crate::Exception;
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_partiql::Statement;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct BatchExecuteStatement {
    pub statements: Vec<BatchStatement>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

#[derive(Debug)]
pub struct BatchStatement {
    /// What is wrong with one statement is no matter of the others.
    pub statement: Result<Statement, Exception>,
    pub consistent_read: bool,
    pub return_item_on_condition_failure: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchExecuteStatementOutput {
    /// One per statement, in order.
    pub responses: Vec<BatchStatementResponse>,
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchStatementResponse {
    /// `None` if the statement did not get as far as its table.
    pub table: Option<TableName>,
    pub item: Option<Item>,
    pub error: Option<Exception>,
}
