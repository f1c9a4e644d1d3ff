//! TransactGetItems: up to 100 items as of one moment.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

/// The request of TransactGetItems.
#[derive(Debug)]
pub struct TransactGetItems {
    /// The items to read.
    pub gets: Vec<TransactGet>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// One read of a transaction.
#[derive(Debug)]
pub struct TransactGet {
    /// The table.
    pub table: TableName,
    /// The key of the item.
    pub key: Item,
    /// The attributes to return; `None` returns all of them.
    pub projection: Option<Projection>,
}

/// The response to TransactGetItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItemsOutput {
    /// The items read: one entry per get, in order.
    pub responses: Vec<Option<Item>>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
