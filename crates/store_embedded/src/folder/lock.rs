//! One process at a time: the file `LOCK`.
//!
//! LMDB would let a second process write beside the first. So whoever opens a folder first takes an exclusive lock
//! on `LOCK` and writes into it who it is; the next one is told. The lock ends with the process, however it ends.

use crate::clock;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::folder::private_files;
use crate::open_error::OpenError;

pub(crate) const FILE_NAME: &str = "LOCK";

/// The folder is ours while this lives.
pub(crate) struct FolderLock {
    file: File,
}

impl FolderLock {
    pub fn take(folder: &Path) -> Result<FolderLock, OpenError> {
        FolderLock::take_with(folder, private_files::options().open(folder.join(FILE_NAME)))
    }

    /// For whoever changes nothing. On a disk that cannot be written the folder itself is what is locked, if nobody
    /// has ever locked it before.
    pub fn take_to_read(folder: &Path) -> Result<FolderLock, OpenError> {
        let path = folder.join(FILE_NAME);
        let file = private_files::options().open(&path);
        FolderLock::take_with(folder, file.or_else(|_| File::open(&path)).or_else(|_| File::open(folder)))
    }

    fn take_with(folder: &Path, file: io::Result<File>) -> Result<FolderLock, OpenError> {
        let mut file = file.map_err(|error| OpenError::io(folder, error))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock { file }),
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                // Who holds it is worth telling, but not worth failing for.
                let _ = file.read_to_string(&mut by);
                let by =
                    if by.trim().is_empty() { "another process".to_string() } else { by.trim().to_string() };
                Err(OpenError::Held { folder: folder.to_path_buf(), by })
            }
            Err(TryLockError::Error(error)) => Err(OpenError::io(folder, error)),
        }
    }

    /// Writes who holds the folder, for others to be told.
    pub fn sign(&mut self) {
        let seconds = clock::unix_seconds();
        let text = format!("process {}, which opened it on {}\n", std::process::id(), utc(seconds));
        let written = self
            .file
            .rewind()
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.set_len(text.len() as u64));
        if let Err(error) = written {
            // The lock itself holds.
            tracing::warn!(%error, "it could not be noted who has the folder open");
        }
    }
}

/// Seconds since 1970 as people write them.
fn utc(seconds: u64) -> String {
    let (mut days, clock) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let february = days_of_year(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    format!("{year}-{month:02}-{:02} at {hour:02}:{minute:02}:{second:02} UTC", days + 1)
}

fn days_of_year(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn tells_the_time() {
        assert_eq!(utc(0), "1970-01-01 at 00:00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 at 23:59:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 at 00:00:00 UTC");
        assert_eq!(utc(1_798_761_599), "2026-12-31 at 23:59:59 UTC");
    }
}
