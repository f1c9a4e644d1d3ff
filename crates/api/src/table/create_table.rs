//! CreateTable: a new, empty table.

use crate::key_schema::{AttributeDefinition, KeySchema};
use crate::table::*;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct CreateTable {
    pub name: TableName,
    pub attribute_definitions: Vec<AttributeDefinition>,
    pub key: KeySchema,
    pub local_indexes: Vec<IndexDefinition>,
    pub global_indexes: Vec<IndexDefinition>,
    pub billing_mode: BillingMode,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
    pub stream: Option<StreamViewType>,
    pub encryption: Option<Encryption>,
    pub table_class: Option<TableClass>,
    pub deletion_protection: bool,
    pub resource_policy: Option<String>,
    pub tags: Vec<Tag>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableOutput {
    pub table: TableDescription,
}
