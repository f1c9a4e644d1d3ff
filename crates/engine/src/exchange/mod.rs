//! What exports, imports and bulk operations have in common: their records, client tokens and objects.

pub mod complaints;
pub mod data_files;
pub mod exchange_record;
pub mod exchange_upkeep;
pub mod object_source;
pub mod open_ids;
pub mod workplace;
