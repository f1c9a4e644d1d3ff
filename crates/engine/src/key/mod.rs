//! Keys: of items, as requests name them, and of rows, as the store keeps them.

pub mod item_key;
pub mod scalar_keys;
pub mod stored_key;
