//! ExecuteStatement: one PartiQL statement; a read returns one page.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_partiql::Statement;
use partita_value::Item;

/// The request of ExecuteStatement.
#[derive(Debug)]
pub struct ExecuteStatement {
    /// The statement.
    pub statement: Statement,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// The maximum number of items to read.
    pub limit: Option<u32>,
    /// Where the previous page ended.
    pub next_token: Option<Vec<u8>>,
    /// A hash of the statement and its parameters: a page is continued only by the same statement.
    pub fingerprint: [u8; 16],
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
}

/// The response to ExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteStatementOutput {
    /// The items read, or what a write returns.
    pub items: Vec<Item>,
    /// The token of the next page; `None` on the last one.
    pub next_token: Option<Vec<u8>>,
    /// The key after which the next page starts; `None` on the last page.
    pub last_evaluated_key: Option<Item>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<ConsumedCapacity>,
}
