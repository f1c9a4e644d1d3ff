//! The format of a folder: the text file `FORMAT`.
//!
//! It is read before anything is written. A folder without it must be empty to become a store; one of a newer format is
//! rejected and left untouched.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::folder::creation;
use crate::folder::file_read;
use crate::folder::lock;
use crate::folder::private_files;
use crate::open_error::OpenError;
use crate::pages::checksums;

/// The format this program writes, and the highest it reads.
pub(crate) const CURRENT: u32 = 2;

const FILE_NAME: &str = "FORMAT";
/// The name of `FORMAT` until it is complete.
const UNFINISHED_NAME: &str = "FORMAT.new";
const BEGINNING: &str = "partita embedded store, format ";

/// The format of a folder, or `None` if it is to become a store. Rejects what this program cannot open. Writes nothing.
pub(crate) fn check(folder: &Path) -> Result<Option<u32>, OpenError> {
    match file_read::whole(&folder.join(FILE_NAME)) {
        Ok(text) => check_text(folder, &String::from_utf8_lossy(&text)).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_empty(folder).map(|()| None),
        Err(error) => Err(OpenError::io(folder, error)),
    }
}

/// Writes the current format to a temporary file, which does not count yet.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    let mut file = private_files::options().truncate(true).open(folder.join(UNFINISHED_NAME))?;
    file.write_all(text().as_bytes())?;
    file.sync_all()?;
    private_files::sync_folder(folder)
}

/// Puts the prepared format into effect.
pub(crate) fn finish(folder: &Path) -> io::Result<()> {
    fs::rename(folder.join(UNFINISHED_NAME), folder.join(FILE_NAME))?;
    private_files::sync_folder(folder)
}

/// Whether the current format was prepared.
pub(crate) fn is_prepared(folder: &Path) -> bool {
    fs::read_to_string(folder.join(UNFINISHED_NAME)).is_ok_and(|found| found == text())
}

fn text() -> String {
    format!("{BEGINNING}{CURRENT}\n")
}

fn check_text(folder: &Path, text: &str) -> Result<u32, OpenError> {
    let version = text.trim_end().strip_prefix(BEGINNING).and_then(|version| version.parse::<u32>().ok());
    match version {
        Some(found @ 1..=CURRENT) => Ok(found),
        Some(found) if found > CURRENT => {
            Err(OpenError::NewerFormat { folder: folder.to_path_buf(), found, supported: CURRENT })
        }
        _ => Err(OpenError::damaged(folder, "its file FORMAT is not readable")),
    }
}

fn check_empty(folder: &Path) -> Result<(), OpenError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(OpenError::io(folder, error)),
    };
    let is_known = |name: &std::ffi::OsStr| {
        // What an interrupted creation leaves; the last one comes with a mounted disk.
        [lock::FILE_NAME, UNFINISHED_NAME, creation::FOLDER_NAME, "lost+found"]
            .iter()
            .any(|known| name == *known)
            || ([creation::DATA_NAME, checksums::FILE_NAME].iter().any(|file| name == *file)
                && is_prepared(folder))
    };
    for entry in entries {
        let name = entry.map_err(|error| OpenError::io(folder, error))?.file_name();
        if !is_known(&name) {
            let found = name.to_string_lossy().into_owned();
            return Err(OpenError::NotAStore { folder: folder.to_path_buf(), found });
        }
    }
    Ok(())
}
