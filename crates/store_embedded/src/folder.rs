//! The data folder: lock, format, creation, upgrade, and file access.

pub(crate) mod creation;
pub(crate) mod file_read;
pub(crate) mod format;
pub(crate) mod lock;
pub(crate) mod private_files;
pub(crate) mod upgrade;
