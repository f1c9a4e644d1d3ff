//! UpdateItem: changes attributes of an item, or creates it.

use crate::capacity::ReturnConsumedCapacity;
use crate::item::write_output::WriteOutput;
use crate::reporting::ReturnValues;
use partita_expression::{Condition, Update};
use partita_value::{Item, names::TableName};

/// The request of UpdateItem.
#[derive(Debug)]
pub struct UpdateItem {
    /// The table.
    pub table: TableName,
    /// The key of the item.
    pub key: Item,
    /// The update; `None` creates an item with only the key if there is none.
    pub update: Option<Update>,
    /// The condition that the stored item must meet.
    pub condition: Option<Condition>,
    /// Which attributes to return.
    pub return_values: ReturnValues,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to report metrics of the item collections written to.
    pub return_item_collection_metrics: bool,
}

/// The response to UpdateItem.
pub type UpdateItemOutput = WriteOutput;
