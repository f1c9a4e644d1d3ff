//! The first start in a folder, which may be cut short at any point: the next one makes up for it.
//!
//! The data file is made in a folder of its own. Only when it is whole does it get its name, and only then is the
//! folder said to be a store. So a store without a whole data file is never one that was just begun: it is damaged.

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
/// Where the data file is made.
pub(crate) const FOLDER_NAME: &str = data_file::UNFINISHED_NAME;
/// A file that ever had something in it is longer: LMDB begins with two pages about itself.
const EMPTY_DATA_BYTES: u64 = 2 * 4_096;
const READERS_NAME: &str = "lock.mdb";
/// Room for 4,096 readers, of 64 bytes each, and what LMDB has before them.
const READERS_BYTES: usize = 4_097 * 64 + 4_096;

/// Makes a folder that has no format yet a store of the current one.
pub(crate) fn create(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    if !folder.join(DATA_NAME).exists() {
        make_data_file(folder)?;
    }
    format::finish(folder).map_err(failed)
}

/// Makes an empty data file, durably and at once.
pub(crate) fn make_data_file(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    let workplace = folder.join(FOLDER_NAME);
    remove_workplace(folder).map_err(failed)?;
    private_files::make_folder(&workplace).map_err(failed)?;
    environment::make_databases(&workplace)?;
    data_file::build_sums(&workplace)?;
    format::prepare(folder).map_err(failed)?;
    // The data file last: with its name the pair is there.
    for name in [checksums::FILE_NAME, DATA_NAME] {
        fs::rename(workplace.join(name), folder.join(name)).map_err(failed)?;
        private_files::sync_folder(folder).map_err(failed)?;
    }
    Ok(())
}

/// Refuses a store whose data file is gone: LMDB would begin a new one.
pub(crate) fn check_data_file(folder: &Path) -> Result<(), OpenError> {
    if is_begun(folder) {
        return Ok(());
    }
    Err(OpenError::damaged(folder, format!("{DATA_NAME} is missing, or nearly all of it")))
}

/// Whether there is a data file that something was ever written to.
pub(crate) fn is_begun(folder: &Path) -> bool {
    fs::metadata(folder.join(DATA_NAME)).is_ok_and(|file| file.len() > EMPTY_DATA_BYTES)
}

/// Gives LMDB's table of readers its room before it is mapped: a page of it that the disk has no room for would end
/// the process. Nobody may have the folder open.
pub(crate) fn make_room_for_readers(folder: &Path) -> io::Result<()> {
    let path = folder.join(READERS_NAME);
    let has_room = |file: fs::Metadata| {
        file.len() >= READERS_BYTES as u64 && file.blocks() * 512 >= READERS_BYTES as u64
    };
    if fs::metadata(&path).is_ok_and(has_room) {
        return Ok(());
    }
    private_files::options().open(path)?.write_all(&vec![0; READERS_BYTES])
}

/// Removes the folder in which the data file was made.
pub(crate) fn remove_workplace(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(FOLDER_NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
