//! UpdateTable: changes settings; adds, changes or removes global secondary indexes.

use crate::key_schema::AttributeDefinition;
use crate::table::new_index::NewIndex;
use crate::table::table_output::TableOutput;
use crate::table::*;
use partita_value::names::TableName;

/// The request of UpdateTable.
#[derive(Clone, Debug)]
pub struct UpdateTable {
    /// The table.
    pub name: TableName,
    /// The types of the key attributes of new indexes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// How capacity is billed.
    pub billing_mode: Option<BillingMode>,
    /// The provisioned throughput.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
    /// The changes to global indexes, in order.
    pub index_updates: Vec<GlobalIndexUpdate>,
    /// The change to the stream, if there is one.
    pub stream: Option<StreamUpdate>,
    /// The encryption settings.
    pub encryption: Option<Encryption>,
    /// The table class.
    pub table_class: Option<TableClass>,
    /// Whether the table is to be protected against deletion.
    pub deletion_protection: Option<bool>,
}

/// A change to the stream of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamUpdate {
    /// Starts a stream with this view.
    Enable(StreamViewType),
    /// Ends the stream.
    Disable,
}

/// A change to one global index.
#[derive(Clone, Debug)]
pub enum GlobalIndexUpdate {
    /// Adds an index.
    Create(NewIndex),
    /// Changes the throughput of an index.
    Update(IndexUpdate),
    /// Removes an index.
    Delete {
        /// The name of the index.
        name: String,
    },
}

/// A change to the throughput of an existing index.
#[derive(Clone, Debug)]
pub struct IndexUpdate {
    /// The name of the index.
    pub name: String,
    /// The provisioned throughput.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
}

/// The response to UpdateTable.
pub type UpdateTableOutput = TableOutput;
