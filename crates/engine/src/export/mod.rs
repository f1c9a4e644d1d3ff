//! Exports of a table into a bucket.

partita_api::operation_modules!(export);
pub mod export_selection;
pub mod export_step;
