//! DeleteItem: removes the item with a key.

use crate::capacity::ReturnConsumedCapacity;
use crate::reporting::ReturnValues;
use partita_expression::Condition;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct DeleteItem {
    pub table: TableName,
    pub key: Item,
    pub condition: Option<Condition>,
    /// `None` or `AllOld`.
    pub return_values: ReturnValues,
    pub return_item_on_condition_failure: bool,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_collection_metrics: bool,
}

pub type DeleteItemOutput = crate::item::put_item::PutItemOutput;
