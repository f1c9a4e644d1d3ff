//! ExecuteStatement: one PartiQL statement, a page of it where it reads.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_partiql::Statement;
use partita_value::Item;

#[derive(Debug)]
pub struct ExecuteStatement {
    pub statement: Statement,
    pub consistent_read: bool,
    pub limit: Option<u32>,
    /// Where the page before this one ended.
    pub next_token: Option<Vec<u8>>,
    /// A hash of the statement and its parameters: a page goes on only with the same.
    pub fingerprint: [u8; 16],
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_on_condition_failure: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteStatementOutput {
    pub items: Vec<Item>,
    pub next_token: Option<Vec<u8>>,
    pub last_evaluated_key: Option<Item>,
    pub consumed_capacity: Option<ConsumedCapacity>,
}
