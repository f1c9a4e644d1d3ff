//! StartBulkPutItems: files into a table that exists.

use crate::bulk_operation::{BulkInput, BulkOperation, BulkOutput, PerformanceTier};
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct StartBulkPutItems {
    pub table: TableName,
    /// The table as it was named: by name or by ARN.
    pub table_name: String,
    pub client_token: Option<String>,
    pub input: BulkInput,
    pub output: BulkOutput,
    pub max_write_units: Option<u64>,
    pub tier: PerformanceTier,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StartBulkPutItemsOutput {
    pub operation: Box<BulkOperation>,
}
