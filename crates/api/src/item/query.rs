//! Query: a range of one partition of a table or an index.

use crate::capacity::ReturnConsumedCapacity;
use crate::item::page::PageOutput;
use crate::reporting::Select;
use partita_expression::{Condition, KeyCondition, Projection};
use partita_value::{Item, names::TableName};

/// The request of Query.
#[derive(Debug)]
pub struct Query {
    /// The table.
    pub table: TableName,
    /// The index to read; `None` reads the table.
    pub index: Option<String>,
    /// The partition to read, and which range of its sort key.
    pub key_condition: KeyCondition,
    /// The condition that an item must meet to be returned.
    pub filter: Option<Condition>,
    /// The attributes to return; `None` returns all of them.
    pub projection: Option<Projection>,
    /// What to return of each item.
    pub select: Option<Select>,
    /// The maximum number of items to read.
    pub limit: Option<u32>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// Whether items are read in ascending order.
    pub scan_index_forward: bool,
    /// The key after which the page starts.
    pub exclusive_start_key: Option<Item>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// Whether the key condition is in the legacy form `KeyConditions`, which has other error messages.
    pub legacy: bool,
}

/// The response to Query.
pub type QueryOutput = PageOutput;
