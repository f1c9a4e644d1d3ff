//! The write path: decisions, group commit, what is pending, and the applier that brings the tree up to date.

pub(crate) mod applier;
pub(crate) mod batch;
pub(crate) mod decision_job;
pub(crate) mod disk_space;
pub(crate) mod overlay;
pub(crate) mod pending;
pub(crate) mod store_state;
pub(crate) mod write_health;
pub(crate) mod writer;
