//! An export: what ExportTableToPointInTime starts and DescribeExport shows.

use crate::exchange::{ExchangeFailure, ExchangeStatus, ObjectTarget};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportFormat {
    #[default]
    DynamoDbJson,
    Ion,
}

impl ExportFormat {
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::DynamoDbJson => "DYNAMODB_JSON",
            ExportFormat::Ion => "ION",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    pub arn: String,
    pub table_arn: String,
    pub table_id: String,
    pub status: ExchangeStatus,
    pub started_millis: u64,
    pub ended_millis: Option<u64>,
    pub export_time_millis: u64,
    pub format: ExportFormat,
    pub target: ObjectTarget,
    pub client_token: Option<String>,
    pub manifest: Option<String>,
    pub items: u64,
    pub bytes: u64,
    pub failure: Option<ExchangeFailure>,
}
