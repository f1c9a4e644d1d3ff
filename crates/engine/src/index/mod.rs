//! Secondary indexes: their entries, and how a new one is filled.

pub mod backfill;
pub mod index_entry;
