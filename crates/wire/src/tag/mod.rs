//! Tags of tables.

partita_api::operation_modules!(tag);
pub mod tags;
