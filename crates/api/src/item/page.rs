//! A page of items, which is what Query and Scan return.

use crate::capacity::ConsumedCapacity;
use partita_value::Item;

/// A page of items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemPage {
    /// The items; `None` if only their count was requested.
    pub items: Option<Vec<Item>>,
    /// The number of items that passed the filter.
    pub count: u64,
    /// The number of items that were read.
    pub scanned_count: u64,
    /// The key after which the next page starts; `None` on the last page.
    pub last_evaluated_key: Option<Item>,
    /// What could not be read, if the request skips damage.
    pub damaged: Vec<String>,
}

/// The response to Query and Scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOutput {
    /// The page of items.
    pub page: ItemPage,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<ConsumedCapacity>,
}
