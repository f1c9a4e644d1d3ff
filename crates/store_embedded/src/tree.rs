//! The rows in LMDB.
//!
//! The `environment` writes to the `databases` and publishes a `root` for readers after every transaction. A row is one `entry`,
//! with `long_values` split into chunks; `dropped_spaces` lists the spaces whose rows are being removed.

pub(crate) mod databases;
pub(crate) mod dropped_spaces;
pub(crate) mod entry;
pub(crate) mod environment;
pub(crate) mod long_values;
pub(crate) mod root;
