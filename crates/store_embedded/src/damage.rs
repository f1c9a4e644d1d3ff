//! Damaged pages.
//!
//! A `damaged_leaf` still yields its good rows; `lost_ranges` records the others. Before LMDB writes, `write_path_check` checks
//! the pages it will read, and `page_repair` and `branch_repair` rewrite those that are damaged. `checksum_repair` rebuilds
//! damaged blocks of the checksum file.

pub(crate) mod branch_repair;
pub(crate) mod checksum_repair;
pub(crate) mod damaged_leaf;
pub(crate) mod lost_ranges;
pub(crate) mod page_repair;
pub(crate) mod write_path_check;
