//! ExecuteTransaction: up to 100 PartiQL statements that read, or that write, at one moment.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::item::transact_write_items::ClientRequestToken;
use partita_partiql::Statement;
use partita_value::Item;

#[derive(Debug)]
pub struct ExecuteTransaction {
    /// All of them read, or none does.
    pub statements: Vec<TransactStatement>,
    pub client_request_token: Option<ClientRequestToken>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

#[derive(Debug)]
pub struct TransactStatement {
    pub statement: Statement,
    pub return_item_on_condition_failure: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteTransactionOutput {
    /// One per statement, in order; those that write have no item.
    pub responses: Vec<Option<Item>>,
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
