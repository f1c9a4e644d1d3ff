//! Formats of other programs: models of NoSQL Workbench and OneTable, and DynamoDB items, requests and table descriptions.
//!
//! Nothing else in this crate knows the JSON of DynamoDB.

pub mod csv;
pub mod filter_expression;
pub mod infrastructure;
pub mod item_json;
pub mod library;
pub mod onetable;
pub mod request_json;
pub mod request_log;
pub mod table_definition;
pub mod workbench;
pub mod write_requests;

/// A model in the format of another program.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The document.
    pub document: serde_json::Value,
    /// What the model has and the format has not.
    pub remarks: Vec<String>,
}
