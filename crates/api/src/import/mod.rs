//! Imports of objects in a bucket into a new table.

crate::operation_modules!(import);

use crate::exchange::{ExchangeFailure, ExchangeStatus, InputCompression, InputFormat, ObjectSource};
use serde::{Deserialize, Serialize};

/// How to read CSV.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvOptions {
    /// The delimiter; a comma if `None`.
    pub delimiter: Option<char>,
    /// The names of the columns; the first line of each object if `None`.
    pub header: Option<Vec<String>>,
}

/// An import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Its ARN.
    pub arn: String,
    /// The ARN of the table.
    pub table_arn: String,
    /// The id of the table.
    pub table_id: String,
    /// The status.
    pub status: ExchangeStatus,
    /// When it started, in milliseconds since 1970.
    pub started_millis: u64,
    /// When it ended, in milliseconds since 1970; `None` while it is in progress.
    pub ended_millis: Option<u64>,
    /// The objects to read.
    pub source: ObjectSource,
    /// The format of the objects.
    pub format: InputFormat,
    /// How CSV is read.
    pub csv: Option<CsvOptions>,
    /// The compression of the objects.
    pub compression: InputCompression,
    /// `TableCreationParameters` as they were sent: JSON text.
    pub table_parameters: String,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// The number of records read.
    pub processed_items: u64,
    /// The bytes read, uncompressed.
    pub processed_bytes: u64,
    /// The number of items put.
    pub imported_items: u64,
    /// The number of records that were not imported.
    pub errors: u64,
    /// Why it failed, if it did.
    pub failure: Option<ExchangeFailure>,
}
