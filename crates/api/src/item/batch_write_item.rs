//! BatchWriteItem: up to 25 puts and deletes, each on its own.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::reporting::ItemCollectionMetrics;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct BatchWriteItem {
    pub tables: Vec<(TableName, Vec<BatchWrite>)>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    pub return_item_collection_metrics: bool,
}

#[derive(Clone, Debug)]
pub enum BatchWrite {
    Put(Item),
    /// The key of the item to remove.
    Delete(Item),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItemOutput {
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
    pub item_collection_metrics: Option<Vec<(TableName, Vec<ItemCollectionMetrics>)>>,
}
