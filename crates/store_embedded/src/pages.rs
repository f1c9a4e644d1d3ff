//! LMDB's pages as readers see them: layout, checksums, and walks over trees of checked pages.

pub(crate) mod checksums;
pub(crate) mod data_file;
pub(crate) mod live_pages;
pub(crate) mod mapped_faults;
pub(crate) mod page;
pub(crate) mod page_set;
pub(crate) mod page_view;
pub(crate) mod tree_walk;
