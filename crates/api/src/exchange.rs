//! What exports, imports and bulk operations have in common.

use serde::{Deserialize, Serialize};

/// The state of an export or import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeStatus {
    /// In progress.
    InProgress,
    /// Finished.
    Completed,
    /// Ended early, with a failure.
    Failed,
}

impl ExchangeStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ExchangeStatus::InProgress => "IN_PROGRESS",
            ExchangeStatus::Completed => "COMPLETED",
            ExchangeStatus::Failed => "FAILED",
        }
    }
}

/// Why an export, import or bulk operation failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeFailure {
    /// The code of the failure.
    pub code: String,
    /// What went wrong.
    pub message: String,
}

/// The format of objects that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputFormat {
    /// DynamoDB JSON, one item per line.
    DynamoDbJson,
    /// Amazon Ion text.
    Ion,
    /// CSV.
    Csv,
}

impl InputFormat {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            InputFormat::DynamoDbJson => "DYNAMODB_JSON",
            InputFormat::Ion => "ION",
            InputFormat::Csv => "CSV",
        }
    }
}

/// The compression of objects that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputCompression {
    /// Not compressed.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl InputCompression {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            InputCompression::None => "NONE",
            InputCompression::Gzip => "GZIP",
            InputCompression::Zstd => "ZSTD",
        }
    }
}

/// The objects that an import or bulk operation reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSource {
    /// The bucket.
    pub bucket: String,
    /// The account that owns the bucket.
    pub bucket_owner: Option<String>,
    /// What the keys of the objects start with.
    pub prefix: Option<String>,
}

/// Where an export or bulk operation writes objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectTarget {
    /// The bucket.
    pub bucket: String,
    /// The account that owns the bucket.
    pub bucket_owner: Option<String>,
    /// What the keys of the objects start with.
    pub prefix: Option<String>,
    /// The server-side encryption requested of the bucket.
    pub sse_algorithm: Option<String>,
    /// The KMS key of the encryption.
    pub kms_key: Option<String>,
}

/// Which page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    /// Only entries of this table.
    pub table_arn: Option<String>,
    /// The maximum number of entries in a page.
    pub limit: usize,
    /// The id after which the page starts.
    pub start_after: Option<String>,
}
