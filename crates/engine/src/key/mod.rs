//! Keys: the primary keys of items, and the stored keys of all rows.
//!
//! [`stored_key`] is the only module that builds the bytes of a stored key, and documents the layout of all of them.

pub mod item_key;
pub mod scalar_keys;
pub mod stored_key;
