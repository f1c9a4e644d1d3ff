//! The data folder itself.
//!
//! It is protected by a `lock`, identified by its `format`, built by `creation` and converted by `upgrade`. `private_files` and
//! `file_read` are how all files in it are created and read.

pub(crate) mod creation;
pub(crate) mod file_read;
pub(crate) mod format;
pub(crate) mod lock;
pub(crate) mod private_files;
pub(crate) mod upgrade;
