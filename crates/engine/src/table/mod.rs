//! Operations on tables, and what they share: the record of a new table, its description, its removal, its throughput.
//!
//! The records themselves are stored and published by [`crate::catalog`].

partita_api::operation_modules!(table);
pub mod attribute_definitions;
pub mod new_table;
pub mod remove_table;
pub mod table_description;
pub mod throughput_record;
pub mod warm_throughput;
