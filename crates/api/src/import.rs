//! An import: what ImportTable starts and DescribeImport shows.

use crate::exchange::{ExchangeFailure, ExchangeStatus};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportFormat {
    DynamoDbJson,
    Ion,
    Csv,
}

impl ImportFormat {
    pub fn name(self) -> &'static str {
        match self {
            ImportFormat::DynamoDbJson => "DYNAMODB_JSON",
            ImportFormat::Ion => "ION",
            ImportFormat::Csv => "CSV",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportCompression {
    #[default]
    None,
    Gzip,
    Zstd,
}

impl ImportCompression {
    pub fn name(self) -> &'static str {
        match self {
            ImportCompression::None => "NONE",
            ImportCompression::Gzip => "GZIP",
            ImportCompression::Zstd => "ZSTD",
        }
    }
}

/// Where an import comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSource {
    pub bucket: String,
    pub bucket_owner: Option<String>,
    pub prefix: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvOptions {
    pub delimiter: Option<char>,
    pub header: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub arn: String,
    pub table_arn: String,
    pub table_id: String,
    pub status: ExchangeStatus,
    pub started_millis: u64,
    pub ended_millis: Option<u64>,
    pub source: ImportSource,
    pub format: ImportFormat,
    pub csv: Option<CsvOptions>,
    pub compression: ImportCompression,
    /// `TableCreationParameters` as they were sent: JSON text.
    pub table_parameters: String,
    pub client_token: Option<String>,
    pub processed_items: u64,
    pub processed_bytes: u64,
    pub imported_items: u64,
    pub errors: u64,
    pub failure: Option<ExchangeFailure>,
}
