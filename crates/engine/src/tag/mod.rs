//! Tags of tables, which are part of the table's record.

partita_api::operation_modules!(tag);
pub mod tagged_table;
