//! UpdateTable: changes settings; adds, changes or removes global secondary indexes.

use crate::key_schema::{AttributeDefinition, KeySchemaElement};
use crate::table::*;
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct UpdateTable {
    pub name: TableName,
    pub attribute_definitions: Vec<AttributeDefinition>,
    pub billing_mode: Option<BillingMode>,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
    pub index_updates: Vec<GlobalIndexUpdate>,
    pub stream: Option<StreamUpdate>,
    pub encryption: Option<Encryption>,
    pub table_class: Option<TableClass>,
    pub deletion_protection: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StreamUpdate {
    Enable(StreamViewType),
    Disable,
}

#[derive(Clone, Debug)]
pub enum GlobalIndexUpdate {
    Create(NewIndex),
    Update(IndexUpdate),
    Delete { name: String },
}

/// What changes of an index that stays.
#[derive(Clone, Debug)]
pub struct IndexUpdate {
    pub name: String,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
}

/// An index to add or to restore; its key's types come from the definitions of the request and the table.
#[derive(Clone, Debug)]
pub struct NewIndex {
    pub name: String,
    pub key_schema: Vec<KeySchemaElement>,
    pub projection: IndexProjection,
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
}

pub type UpdateTableOutput = crate::table::create_table::CreateTableOutput;
