//! PutItem: writes a whole item, replacing the one with the same key.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::reporting::{ItemCollectionMetrics, ReturnValues};
use partita_expression::Condition;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct PutItem {
    pub table: TableName,
    pub item: Item,
    pub condition: Option<Condition>,
    /// `None` or `AllOld`.
    pub return_values: ReturnValues,
    pub return_item_on_condition_failure: bool,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_collection_metrics: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PutItemOutput {
    pub attributes: Option<Item>,
    pub consumed_capacity: Option<ConsumedCapacity>,
    pub item_collection_metrics: Option<ItemCollectionMetrics>,
}
