//! What exports, imports, bulk operations, backups and restores have in common.
//!
//! Each of them is a row ([`exchange_record`]); exports, imports and bulk operations are started once per client token. Background steps advance those that are open
//! ([`open_ids`]), reading objects of a bucket ([`object_source`]) or listing the data files they wrote ([`data_files`]).
//! [`exchange_retention`] deletes ended exports, imports and bulk operations.

pub mod data_files;
pub mod exchange_record;
pub mod exchange_retention;
pub mod object_source;
pub mod open_ids;
pub mod record_errors;
pub mod step_state;
