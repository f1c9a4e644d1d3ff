//! Imports of a new table from a bucket.

partita_api::operation_modules!(import);
pub mod import_step;
