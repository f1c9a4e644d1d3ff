//! UpdateItem: changes attributes of an item, or makes it.

use crate::capacity::ReturnConsumedCapacity;
use crate::reporting::ReturnValues;
use partita_expression::{Condition, Update};
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct UpdateItem {
    pub table: TableName,
    pub key: Item,
    /// `None` writes just the key, if there is no item yet.
    pub update: Option<Update>,
    pub condition: Option<Condition>,
    pub return_values: ReturnValues,
    pub return_item_on_condition_failure: bool,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_collection_metrics: bool,
}

pub type UpdateItemOutput = crate::item::put_item::PutItemOutput;
