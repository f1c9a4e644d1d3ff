//! Imports: ImportTable creates a table from the objects of a bucket.
//!
//! The request creates the table in status CREATING; [`import_step`] fills and activates it in the background.

partita_api::operation_modules!(import);
pub mod import_step;
