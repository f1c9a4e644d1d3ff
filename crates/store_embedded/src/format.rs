//! Which format a folder has: the text file `FORMAT`.
//!
//! It is looked at before anything is written. A folder without it must be empty to become a store; one of a newer
//! format is refused as it is.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::lock;
use crate::open_error::OpenError;

/// The format this program writes, and the highest it reads.
pub(crate) const CURRENT: u32 = 2;

const FILE_NAME: &str = "FORMAT";
/// What `FORMAT` is called until it is whole.
const UNFINISHED_NAME: &str = "FORMAT.new";
const BEGINNING: &str = "partita embedded store, format ";

/// Refuses what this program cannot open, and says which format it has. Writes nothing.
pub(crate) fn check(folder: &Path) -> Result<u32, OpenError> {
    match fs::read_to_string(folder.join(FILE_NAME)) {
        Ok(text) => check_text(folder, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_empty(folder).map(|()| CURRENT),
        Err(error) => Err(OpenError::io(folder, error)),
    }
}

/// Makes a checked folder one of the current format, durably, unless it is one already.
pub(crate) fn establish(folder: &Path) -> Result<(), OpenError> {
    if folder.join(FILE_NAME).exists() {
        return Ok(());
    }
    set_current(folder)
}

/// Says that the folder has the current format now, durably.
pub(crate) fn set_current(folder: &Path) -> Result<(), OpenError> {
    let write = || -> io::Result<()> {
        let unfinished = folder.join(UNFINISHED_NAME);
        let mut file = File::create(&unfinished)?;
        file.write_all(format!("{BEGINNING}{CURRENT}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, folder.join(FILE_NAME))?;
        sync_folder(folder)
    };
    write().map_err(|error| OpenError::io(folder, error))
}

/// Makes the creation, renaming and removal of files in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
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
    for entry in entries {
        let name = entry.map_err(|error| OpenError::io(folder, error))?.file_name();
        // The first two are what a start that was cut short leaves; the third comes with a mounted disk.
        if ![lock::FILE_NAME, UNFINISHED_NAME, "lost+found"].iter().any(|known| name == *known) {
            let found = name.to_string_lossy().into_owned();
            return Err(OpenError::NotOurs { folder: folder.to_path_buf(), found });
        }
    }
    Ok(())
}
