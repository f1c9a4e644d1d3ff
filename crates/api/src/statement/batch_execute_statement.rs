//! BatchExecuteStatement: up to 25 PartiQL statements, each independent of the others.

use crate::Exception;
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_partiql::Statement;
use partita_value::{Item, names::TableName};

/// The request of BatchExecuteStatement.
#[derive(Debug)]
pub struct BatchExecuteStatement {
    /// The statements, in order.
    pub statements: Vec<BatchStatement>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// One statement of a batch.
#[derive(Debug)]
pub struct BatchStatement {
    /// The statement, or why it is invalid, which does not affect the others.
    pub statement: Result<Statement, Exception>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
}

/// The response to BatchExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchExecuteStatementOutput {
    /// The responses: one per statement, in order.
    pub responses: Vec<BatchStatementResponse>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}

/// The response to one statement of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchStatementResponse {
    /// The table; `None` if the statement failed before it was looked up.
    pub table: Option<TableName>,
    /// The item read, if there is one.
    pub item: Option<Item>,
    /// Why the statement failed, if it did.
    pub error: Option<Exception>,
}
