//! The write path, from a decision to the tree.
//!
//! The `writer` runs each `decision_job`, collects the writes of a group in a `batch` and commits it to the log. Committed rows
//! are `pending` in an `overlay` until the `applier` writes them to the tree. `disk_space` is allocated before it is needed,
//! `write_health` reports failures, and `store_state` is what all parts share.

pub(crate) mod applier;
pub(crate) mod batch;
pub(crate) mod decision_job;
pub(crate) mod disk_space;
pub(crate) mod overlay;
pub(crate) mod pending;
pub(crate) mod store_state;
pub(crate) mod write_health;
pub(crate) mod writer;
