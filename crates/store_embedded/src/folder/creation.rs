//! Creation of a new store, which may be interrupted at any point: the next start completes it.
//!
//! The data file is built in a folder of its own. Only when it is complete does it get its name, and only then is the
//! folder marked as a store. So a store without a complete data file is never a half-created one: it is damaged.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::folder::format;
use crate::folder::private_files;
use crate::open_error::OpenError;
use crate::pages::checksums;
use crate::pages::data_file;
use crate::tree::environment;

pub(crate) const DATA_NAME: &str = "data.mdb";
/// The folder in which the data file is built.
pub(crate) const FOLDER_NAME: &str = data_file::UNFINISHED_NAME;
/// A file that was ever written to is longer: LMDB starts with two meta pages.
const EMPTY_DATA_BYTES: u64 = 2 * 4_096;
const READERS_NAME: &str = "lock.mdb";
/// Space for 4,096 readers of 64 bytes each, and LMDB's header before them.
const READERS_BYTES: usize = 4_097 * 64 + 4_096;

/// Turns a folder without a format into a store of the current format.
pub(crate) fn create(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    if !folder.join(DATA_NAME).exists() {
        create_data_file(folder)?;
    }
    format::finish(folder).map_err(failed)
}

/// Creates an empty data file, durably and atomically.
pub(crate) fn create_data_file(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let build_folder = folder.join(FOLDER_NAME);
    remove_build_folder(folder).map_err(failed)?;
    private_files::create_folder(&build_folder).map_err(failed)?;
    environment::create_databases(&build_folder)?;
    data_file::build_checksums(&build_folder)?;
    format::prepare(folder).map_err(failed)?;
    // The data file last: once it has its name, the pair is complete.
    for name in [checksums::FILE_NAME, DATA_NAME] {
        fs::rename(build_folder.join(name), folder.join(name)).map_err(failed)?;
        private_files::sync_folder(folder).map_err(failed)?;
    }
    Ok(())
}

/// Rejects a store whose data file is gone: LMDB would create a new one.
pub(crate) fn check_data_file(folder: &Path) -> Result<(), OpenError> {
    if has_data(folder) {
        return Ok(());
    }
    Err(OpenError::damaged(folder, format!("{DATA_NAME} is missing, or nearly all of it")))
}

/// Whether there is a data file that was ever written to.
pub(crate) fn has_data(folder: &Path) -> bool {
    fs::metadata(folder.join(DATA_NAME)).is_ok_and(|file| file.len() > EMPTY_DATA_BYTES)
}

/// Allocates LMDB's reader table before it is mapped: touching a page that the disk has no space for would end the
/// process. No process may have the folder open.
pub(crate) fn allocate_reader_table(folder: &Path) -> io::Result<()> {
    let path = folder.join(READERS_NAME);
    let is_allocated = |file: fs::Metadata| {
        file.len() >= READERS_BYTES as u64 && file.blocks() * 512 >= READERS_BYTES as u64
    };
    if fs::metadata(&path).is_ok_and(is_allocated) {
        return Ok(());
    }
    private_files::options().open(path)?.write_all(&vec![0; READERS_BYTES])
}

/// Removes the folder in which the data file was built.
pub(crate) fn remove_build_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(FOLDER_NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
