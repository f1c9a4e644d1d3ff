//! Query: a range of one partition of a table or an index.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::reporting::{Page, Select};
use partita_expression::{Condition, KeyCondition, Projection};
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct Query {
    pub table: TableName,
    pub index: Option<String>,
    pub key_condition: KeyCondition,
    pub filter: Option<Condition>,
    pub projection: Option<Projection>,
    pub select: Option<Select>,
    pub limit: Option<u32>,
    pub consistent_read: bool,
    pub scan_index_forward: bool,
    pub exclusive_start_key: Option<Item>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
    /// The condition came as legacy `KeyConditions`, whose errors read differently.
    pub legacy: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryOutput {
    pub page: Page,
    pub consumed_capacity: Option<ConsumedCapacity>,
}
