//! BatchWriteItem: up to 25 puts and deletes, each independent of the others.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::reporting::ItemCollectionMetrics;
use partita_value::{Item, names::TableName};

/// The request of BatchWriteItem.
#[derive(Debug)]
pub struct BatchWriteItem {
    /// The writes to each table.
    pub tables: Vec<(TableName, Vec<BatchWrite>)>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether to report metrics of the item collections written to.
    pub return_item_collection_metrics: bool,
}

/// One write of a batch.
#[derive(Clone, Debug)]
pub enum BatchWrite {
    /// The item to put.
    Put(Item),
    /// The key of the item to remove.
    Delete(Item),
}

/// The response to BatchWriteItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItemOutput {
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
    /// The metrics of the item collections written to, by table, if requested.
    pub item_collection_metrics: Option<Vec<(TableName, Vec<ItemCollectionMetrics>)>>,
}
