//! GetItem: reads the item with a key.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

/// The request of GetItem.
#[derive(Debug)]
pub struct GetItem {
    /// The table.
    pub table: TableName,
    /// The key of the item.
    pub key: Item,
    /// The attributes to return; `None` returns all of them.
    pub projection: Option<Projection>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The response to GetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItemOutput {
    /// The item, if there is one.
    pub item: Option<Item>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<ConsumedCapacity>,
}
