//! Secondary indexes and the expiry order of a table: the entries of an item in them, and the backfill of a new one.

pub mod backfill;
pub mod index_entry;
