//! ImportTable: a new table, filled with records of objects.

use crate::exchange::{InputCompression, InputFormat, ObjectSource};
use crate::import::{CsvOptions, Import};
use crate::table::create_table::CreateTable;

/// The request of ImportTable.
#[derive(Clone, Debug)]
pub struct ImportTable {
    /// The table to create.
    pub table: CreateTable,
    /// `TableCreationParameters` as they were sent: JSON text.
    pub table_parameters: String,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// The objects to read.
    pub source: ObjectSource,
    /// The format of the objects.
    pub format: InputFormat,
    /// How to read CSV.
    pub csv: Option<CsvOptions>,
    /// The compression of the objects.
    pub compression: InputCompression,
}

/// The response to ImportTable.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportTableOutput {
    /// The import.
    pub import: Import,
}
