//! Formats of other programs: models of NoSQL Workbench and OneTable, and DynamoDB requests and table descriptions.
//!
//! Nothing else in this crate knows the JSON of DynamoDB.

pub mod onetable;
pub mod request_json;
pub mod table_definition;
pub mod workbench;
