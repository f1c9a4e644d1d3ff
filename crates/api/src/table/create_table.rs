//! CreateTable: a new, empty table.

use crate::key_schema::{AttributeDefinition, KeySchema};
use crate::table::table_output::TableOutput;
use crate::table::*;
use partita_value::names::TableName;

/// The request of CreateTable.
#[derive(Clone, Debug)]
pub struct CreateTable {
    /// The name of the table.
    pub name: TableName,
    /// The types of the key attributes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// The key of the table.
    pub key: KeySchema,
    /// The local secondary indexes.
    pub local_indexes: Vec<IndexDefinition>,
    /// The global secondary indexes.
    pub global_indexes: Vec<IndexDefinition>,
    /// How capacity is billed.
    pub billing_mode: BillingMode,
    /// The provisioned throughput.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
    /// The view of its stream, if it has one.
    pub stream: Option<StreamViewType>,
    /// The encryption settings.
    pub encryption: Option<Encryption>,
    /// The table class.
    pub table_class: Option<TableClass>,
    /// Whether it is protected against deletion.
    pub deletion_protection: bool,
    /// The resource policy: JSON text.
    pub resource_policy: Option<String>,
    /// The tags.
    pub tags: Vec<Tag>,
}

/// The response to CreateTable.
pub type CreateTableOutput = TableOutput;
