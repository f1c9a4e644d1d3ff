//! Imports.

partita_api::operation_modules!(import);
pub mod import_description;
