//! The response of PutItem, UpdateItem and DeleteItem: they report the same about the one item they write.

use crate::capacity::ConsumedCapacity;
use crate::reporting::ItemCollectionMetrics;
use partita_value::Item;

/// The response to the write of a single item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOutput {
    /// The attributes that `ReturnValues` selects.
    pub attributes: Option<Item>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<ConsumedCapacity>,
    /// The metrics of the item's collection, if requested.
    pub item_collection_metrics: Option<ItemCollectionMetrics>,
}
