//! ImportTable: files into a new table.

use crate::create_table::CreateTable;
use crate::import::{CsvOptions, Import, ImportCompression, ImportFormat, ImportSource};

#[derive(Clone, Debug)]
pub struct ImportTable {
    pub table: CreateTable,
    /// The same as it was sent: JSON text.
    pub table_parameters: String,
    pub client_token: Option<String>,
    pub source: ImportSource,
    pub format: ImportFormat,
    pub csv: Option<CsvOptions>,
    pub compression: ImportCompression,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportTableOutput {
    pub import: Import,
}
