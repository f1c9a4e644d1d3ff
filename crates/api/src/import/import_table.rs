//! ImportTable: files into a new table.

use crate::exchange::{InputCompression, InputFormat, ObjectSource};
use crate::import::{CsvOptions, Import};
use crate::table::create_table::CreateTable;

#[derive(Clone, Debug)]
pub struct ImportTable {
    pub table: CreateTable,
    /// The same as it was sent: JSON text.
    pub table_parameters: String,
    pub client_token: Option<String>,
    pub source: ObjectSource,
    pub format: InputFormat,
    pub csv: Option<CsvOptions>,
    pub compression: InputCompression,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportTableOutput {
    pub import: Import,
}
