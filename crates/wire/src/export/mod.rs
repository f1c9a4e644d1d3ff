//! Exports.

partita_api::operation_modules!(export);
pub mod export_filter;
