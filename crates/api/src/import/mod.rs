//! An import: what ImportTable starts and DescribeImport shows.

crate::operation_modules!(import);

use crate::exchange::{ExchangeFailure, ExchangeStatus, InputCompression, InputFormat, ObjectSource};
use serde::{Deserialize, Serialize};

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
    pub source: ObjectSource,
    pub format: InputFormat,
    pub csv: Option<CsvOptions>,
    pub compression: InputCompression,
    /// `TableCreationParameters` as they were sent: JSON text.
    pub table_parameters: String,
    pub client_token: Option<String>,
    pub processed_items: u64,
    pub processed_bytes: u64,
    pub imported_items: u64,
    pub errors: u64,
    pub failure: Option<ExchangeFailure>,
}
