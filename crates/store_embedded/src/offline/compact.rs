//! Makes the data file of a closed store as small as its rows allow.
//!
//! LMDB copies the live pages into a new file, which then replaces the old one together with its checksums. A crash
//! leaves one or the other.

use std::path::Path;

use crate::folder::lock::FolderLock;
use crate::open_error::OpenError;
use crate::pages::data_file;
use crate::pages::page_view;
use crate::tree::environment::Environment;
use crate::{EmbeddedStore, Options};

/// The length of the data file before and after compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// Compacts the store in a folder that no process has open.
pub fn compact(folder: &Path) -> Result<Compacted, OpenError> {
    let length = || {
        let metadata = std::fs::metadata(page_view::file_of(folder));
        metadata.map(|metadata| metadata.len()).map_err(|error| OpenError::io(folder, error))
    };
    let bytes_before = length()?;
    // Brings the data file up to date with the log.
    EmbeddedStore::open(folder, Options::default())?.close();
    compact_closed(folder)?;
    Ok(Compacted { bytes_before, bytes_after: length()? })
}

/// Rewrites the data file, which must be up to date with the log.
pub(crate) fn compact_closed(folder: &Path) -> Result<(), OpenError> {
    let _lock = FolderLock::acquire(folder)?;
    let environment = Environment::open(folder)?;
    data_file::replace(folder, |new| {
        environment.copy_to(&page_view::file_of(new)).map_err(|error| OpenError::store(folder, error))
    })
}
