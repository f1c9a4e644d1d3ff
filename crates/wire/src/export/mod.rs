//! Exports.

partita_api::operation_modules!(export);
pub mod export_description;
pub mod export_filter;
