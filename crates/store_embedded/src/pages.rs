//! LMDB's file as readers see it: pages that are checked before they are used.
//!
//! `page` decodes the layout, `page_view` maps the file and checks each page against the `checksums` file on first read, and
//! `tree_walk` reads trees of such pages. `live_pages` tracks which pages are in use (`page_set`), `data_file` prepares both
//! files at startup, and `mapped_faults` reports reads of the map that fail.

pub(crate) mod checksums;
pub(crate) mod data_file;
pub(crate) mod live_pages;
pub(crate) mod mapped_faults;
pub(crate) mod page;
pub(crate) mod page_set;
pub(crate) mod page_view;
pub(crate) mod tree_walk;
