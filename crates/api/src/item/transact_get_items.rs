//! TransactGetItems: up to 100 items as they were at one moment.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct TransactGetItems {
    pub gets: Vec<TransactGet>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

#[derive(Debug)]
pub struct TransactGet {
    pub table: TableName,
    pub key: Item,
    pub projection: Option<Projection>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItemsOutput {
    /// One per get, in order.
    pub responses: Vec<Option<Item>>,
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
