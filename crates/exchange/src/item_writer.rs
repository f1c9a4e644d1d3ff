//! Writes items as lines of an export's data files, and failed puts as lines of a report.

use crate::ion;
use partita_api::export::ExportFormat;
use partita_value::ItemRef;
use partita_wire::{ChangeLine, encode_change_line, encode_item_line};
pub use partita_wire::{FailedPut, encode_failed_put};

/// Returns the extension of data files.
pub fn file_extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::DynamoDbJson => "json.gz",
        ExportFormat::Ion => "ion.gz",
    }
}

/// Writes an item as a line of a full export.
pub fn write(format: ExportFormat, item: ItemRef<'_>, out: &mut Vec<u8>) {
    match format {
        ExportFormat::DynamoDbJson => encode_item_line(item, out),
        ExportFormat::Ion => ion::write_line(item, out),
    }
}

/// Writes the change of an item as a line of an incremental export.
pub fn write_change(format: ExportFormat, change: &ChangeLine<'_>, out: &mut Vec<u8>) {
    match format {
        ExportFormat::DynamoDbJson => encode_change_line(change, out),
        ExportFormat::Ion => ion::write_change_line(change, out),
    }
}
