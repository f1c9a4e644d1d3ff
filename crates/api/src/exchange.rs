//! What exports, imports and bulk operations have in common.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeStatus {
    InProgress,
    Completed,
    Failed,
}

impl ExchangeStatus {
    pub fn name(self) -> &'static str {
        match self {
            ExchangeStatus::InProgress => "IN_PROGRESS",
            ExchangeStatus::Completed => "COMPLETED",
            ExchangeStatus::Failed => "FAILED",
        }
    }
}

/// Why one of them has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeFailure {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputFormat {
    DynamoDbJson,
    Ion,
    Csv,
}

impl InputFormat {
    pub fn name(self) -> &'static str {
        match self {
            InputFormat::DynamoDbJson => "DYNAMODB_JSON",
            InputFormat::Ion => "ION",
            InputFormat::Csv => "CSV",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputCompression {
    #[default]
    None,
    Gzip,
    Zstd,
}

impl InputCompression {
    pub fn name(self) -> &'static str {
        match self {
            InputCompression::None => "NONE",
            InputCompression::Gzip => "GZIP",
            InputCompression::Zstd => "ZSTD",
        }
    }
}

/// Where objects that are read lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSource {
    pub bucket: String,
    pub bucket_owner: Option<String>,
    pub prefix: Option<String>,
}

/// Where objects that are written go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectTarget {
    pub bucket: String,
    pub bucket_owner: Option<String>,
    pub prefix: Option<String>,
    pub sse_algorithm: Option<String>,
    pub kms_key: Option<String>,
}

/// Which page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    pub table_arn: Option<String>,
    pub limit: usize,
    /// The id behind which the page begins.
    pub behind: Option<String>,
}
