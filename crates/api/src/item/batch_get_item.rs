//! BatchGetItem: up to 100 items of several tables.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

/// The request of BatchGetItem.
#[derive(Debug)]
pub struct BatchGetItem {
    /// The keys to read of each table.
    pub tables: Vec<TableKeys>,
    /// Whether to report the consumed capacity.
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The keys to read of one table.
#[derive(Debug)]
pub struct TableKeys {
    /// The table.
    pub table: TableName,
    /// The keys to read.
    pub keys: Vec<Item>,
    /// The attributes to return; `None` returns all of them.
    pub projection: Option<Projection>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// The projection as the request wrote it, to be repeated with the keys that did not fit into the response.
    pub wording: ProjectionWording,
}

/// A projection as the request wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectionWording {
    /// `ProjectionExpression`.
    pub projection_expression: Option<String>,
    /// `ExpressionAttributeNames`.
    pub expression_attribute_names: Vec<(String, String)>,
    /// `AttributesToGet`.
    pub attributes_to_get: Option<Vec<String>>,
}

/// The items found in one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableItems {
    /// The table.
    pub table: TableName,
    /// The items.
    pub items: Vec<Item>,
}

/// The keys of one table that did not fit into the response.
#[derive(Clone, Debug, PartialEq)]
pub struct UnprocessedKeys {
    /// The table.
    pub table: TableName,
    /// The keys.
    pub keys: Vec<Item>,
    /// Whether the read is strongly consistent.
    pub consistent_read: bool,
    /// The projection as the request wrote it.
    pub wording: ProjectionWording,
}

/// The response to BatchGetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItemOutput {
    /// The items found, by table.
    pub responses: Vec<TableItems>,
    /// The keys that did not fit into the response, by table.
    pub unprocessed: Vec<UnprocessedKeys>,
    /// The consumed capacity, if requested.
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
