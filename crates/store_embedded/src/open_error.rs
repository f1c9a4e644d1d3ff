//! Why a folder cannot be opened as a store, with messages that say what to do.

use partita_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// Why [`crate::EmbeddedStore::open`] failed. The folder is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{folder} is in use by {by}. Stop that process, or choose another folder.", folder = folder.display())]
    InUse { folder: PathBuf, by: String },
    #[error(
        "{folder} was written by a newer version: its format is {found}, this program knows formats up to \
         {supported}. Use the newer program; nothing was changed.",
        folder = folder.display()
    )]
    NewerFormat { folder: PathBuf, found: u32, supported: u32 },
    #[error(
        "{folder} contains files that do not belong to a store ({found}). Choose an empty or a new folder.",
        folder = folder.display()
    )]
    NotAStore { folder: PathBuf, found: String },
    #[error(
        "{folder} is damaged: {what}. Restore it from a backup, or copy what is readable into a new folder: \
         partita salvage {folder} --into NEW",
        folder = folder.display()
    )]
    Damaged { folder: PathBuf, what: String },
    #[error("{folder} cannot be opened: {source}", folder = folder.display())]
    Io { folder: PathBuf, source: io::Error },
}

impl OpenError {
    pub(crate) fn io(folder: &Path, source: io::Error) -> OpenError {
        OpenError::Io { folder: folder.to_path_buf(), source }
    }

    pub(crate) fn store(folder: &Path, error: StoreError) -> OpenError {
        match error {
            StoreError::Damaged(what) => OpenError::damaged(folder, what.reason),
            other => OpenError::io(folder, io::Error::other(other)),
        }
    }

    pub(crate) fn damaged(folder: &Path, what: impl Into<String>) -> OpenError {
        OpenError::Damaged { folder: folder.to_path_buf(), what: what.into() }
    }
}
