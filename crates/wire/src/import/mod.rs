//! Imports.

partita_api::operation_modules!(import);
