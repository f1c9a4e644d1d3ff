//! Items as the lines of an export's data files, and what became of others as the lines of a report.

use crate::ion;
use partita_api::export::ExportFormat;
use partita_value::ItemRef;
use partita_wire::{ChangeLine, encode_change_line, encode_item_line};
pub use partita_wire::{FailedPut, encode_failed_put};

/// How the names of data files end.
pub fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::DynamoDbJson => "json.gz",
        ExportFormat::Ion => "ion.gz",
    }
}

pub fn write(format: ExportFormat, item: ItemRef<'_>, out: &mut Vec<u8>) {
    match format {
        ExportFormat::DynamoDbJson => encode_item_line(item, out),
        ExportFormat::Ion => ion::write_line(item, out),
    }
}

/// What became of an item, as a line of an incremental export.
pub fn write_change(format: ExportFormat, change: &ChangeLine<'_>, out: &mut Vec<u8>) {
    match format {
        ExportFormat::DynamoDbJson => encode_change_line(change, out),
        ExportFormat::Ion => ion::write_change_line(change, out),
    }
}
