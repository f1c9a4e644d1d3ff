//! BatchGetItem: up to 100 items of several tables.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_expression::Projection;
use partita_value::{Item, names::TableName};

#[derive(Debug)]
pub struct BatchGetItem {
    pub tables: Vec<TableKeys>,
    pub return_consumed_capacity: ReturnConsumedCapacity,
}

/// The keys wanted of one table.
#[derive(Debug)]
pub struct TableKeys {
    pub table: TableName,
    pub keys: Vec<Item>,
    pub projection: Option<Projection>,
    pub consistent_read: bool,
    /// What the request said, to be repeated with the keys that did not fit the answer.
    pub wording: ProjectionWording,
}

/// A projection as the request wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectionWording {
    pub projection_expression: Option<String>,
    pub expression_attribute_names: Vec<(String, String)>,
    pub attributes_to_get: Option<Vec<String>>,
}

/// The items found of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableItems {
    pub table: TableName,
    pub items: Vec<Item>,
}

/// Keys of one table that did not fit the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct UnprocessedKeys {
    pub table: TableName,
    pub keys: Vec<Item>,
    pub consistent_read: bool,
    pub wording: ProjectionWording,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItemOutput {
    pub responses: Vec<TableItems>,
    pub unprocessed: Vec<UnprocessedKeys>,
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}
