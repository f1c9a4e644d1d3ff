//! ExecuteTransaction: up to 100 PartiQL statements as one read or write transaction.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::item::client_request_token::ClientRequestToken;
use partita_partiql::Statement;
use partita_value::Item;

/// The request of ExecuteTransaction.
#[derive(Debug)]
pub struct ExecuteTransaction {
    /// The statements, in order. All of them read, or all write.
    pub statements: Vec<TransactStatement>,
    /// The token that makes the request idempotent.
    pub client_request_token: Option<ClientRequestToken>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// One statement of a transaction.
#[derive(Debug)]
pub struct TransactStatement {
    /// The statement.
    pub statement: Statement,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
}

/// The response to ExecuteTransaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteTransactionOutput {
    /// The items read: one entry per statement that reads, in order.
    pub responses: Vec<Option<Item>>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
