//! An index that UpdateTable adds, or that a restored table has.

use crate::key_schema::KeySchemaElement;
use crate::table::{IndexProjection, OnDemandThroughput, Throughput, WarmThroughput};

/// An index to add or to restore. The types of its key come from the definitions of the request and the table.
#[derive(Clone, Debug)]
pub struct NewIndex {
    /// The name of the index.
    pub name: String,
    /// The key of the index.
    pub key_schema: Vec<KeySchemaElement>,
    /// The attributes that it holds.
    pub projection: IndexProjection,
    /// The provisioned throughput.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
}
