//! GetItem: reads the item with a key.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct GetItem {
    pub table: TableName,
    pub key: Item,
    pub projection: Option<Projection>,
    pub consistent_read: bool,
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItemOutput {
    pub item: Option<Item>,
    pub consumed_capacity: Option<ConsumedCapacity>,
}
