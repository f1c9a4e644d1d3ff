//! The keys of all entities in the table and its indexes, and which of them overlap.

pub mod key_mapping;
pub(crate) mod key_sources;
pub(crate) mod key_tree;
pub mod keyspace;
