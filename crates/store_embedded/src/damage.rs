//! Damaged pages: what can still be read, what was lost, and repair before LMDB writes.

pub(crate) mod branch_repair;
pub(crate) mod checksum_repair;
pub(crate) mod damaged_leaf;
pub(crate) mod lost_ranges;
pub(crate) mod page_repair;
pub(crate) mod write_path_check;
