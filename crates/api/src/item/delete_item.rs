//! DeleteItem: removes the item with a key.

use crate::capacity::ReturnConsumedCapacity;
use crate::item::write_output::WriteOutput;
use crate::reporting::ReturnValues;
use partita_expression::Condition;
use partita_value::{Item, names::TableName};

/// The request of DeleteItem.
#[derive(Debug)]
pub struct DeleteItem {
    /// The table.
    pub table: TableName,
    /// The key of the item.
    pub key: Item,
    /// The condition that the stored item must meet.
    pub condition: Option<Condition>,
    /// Which attributes to return: `None` or `AllOld`.
    pub return_values: ReturnValues,
    /// Whether an exception for a failed condition carries the item.
    pub return_item_on_condition_failure: bool,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to report metrics of the item collections written to.
    pub return_item_collection_metrics: bool,
}

/// The response to DeleteItem.
pub type DeleteItemOutput = WriteOutput;
