//! The rows in LMDB: the environment, its databases, and what each entry holds.

pub(crate) mod databases;
pub(crate) mod dropped_spaces;
pub(crate) mod entry;
pub(crate) mod environment;
pub(crate) mod long_values;
pub(crate) mod root;
