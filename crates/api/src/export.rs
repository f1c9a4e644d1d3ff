//! An export: what ExportTableToPointInTime starts and DescribeExport shows.

use crate::exchange::{ExchangeFailure, ExchangeStatus};
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

/// Where an export goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportTarget {
    pub bucket: String,
    pub bucket_owner: Option<String>,
    pub prefix: Option<String>,
    pub sse_algorithm: Option<String>,
    pub kms_key: Option<String>,
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
    pub target: ExportTarget,
    pub client_token: Option<String>,
    pub manifest: Option<String>,
    pub items: u64,
    pub bytes: u64,
    pub failure: Option<ExchangeFailure>,
}
