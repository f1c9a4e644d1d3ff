//! Exports: ExportTableToPointInTime writes a table's items, or their changes within a time window, to a bucket.
//!
//! The request pins the exported moments in the table's [`crate::history`]; [`export_step`] writes the data files in the background.

partita_api::operation_modules!(export);
pub mod export_selection;
pub mod export_step;
