//! StartBulkPutItems: puts records of objects into an existing table.

use crate::bulk_operation::{BulkInput, BulkOperation, BulkOutput, PerformanceTier};
use partita_value::names::TableName;

/// The request of StartBulkPutItems.
#[derive(Clone, Debug)]
pub struct StartBulkPutItems {
    /// The table.
    pub table: TableName,
    /// The table as the request names it: by name or by ARN.
    pub table_name: String,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// What it reads.
    pub input: BulkInput,
    /// Where it reports records that were not put.
    pub output: BulkOutput,
    /// The maximum write units per second, if bounded.
    pub max_write_units: Option<u64>,
    /// The performance tier.
    pub tier: PerformanceTier,
}

/// The response to StartBulkPutItems.
#[derive(Clone, Debug, PartialEq)]
pub struct StartBulkPutItemsOutput {
    /// The bulk operation.
    pub operation: Box<BulkOperation>,
}
