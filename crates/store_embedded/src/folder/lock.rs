//! One process at a time: the file `LOCK`.
//!
//! LMDB would let a second process write alongside the first. So the first process to open a folder takes an exclusive lock on
//! `LOCK` and writes its identity into it, which the next one reports. The lock ends with the process, however it ends.

use crate::clock;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::folder::private_files;
use crate::open_error::OpenError;

pub(crate) const FILE_NAME: &str = "LOCK";

/// Exclusive ownership of the folder while it lives.
pub(crate) struct FolderLock {
    file: File,
}

impl FolderLock {
    pub fn acquire(folder: &Path) -> Result<FolderLock, OpenError> {
        FolderLock::acquire_file(folder, private_files::options().open(folder.join(FILE_NAME)))
    }

    /// For callers that change nothing. On a read-only disk the folder itself is locked if it has no lock file.
    pub fn acquire_read_only(folder: &Path) -> Result<FolderLock, OpenError> {
        let path = folder.join(FILE_NAME);
        let file = private_files::options().open(&path);
        FolderLock::acquire_file(folder, file.or_else(|_| File::open(&path)).or_else(|_| File::open(folder)))
    }

    fn acquire_file(folder: &Path, file: io::Result<File>) -> Result<FolderLock, OpenError> {
        let mut file = file.map_err(|error| OpenError::io(folder, error))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock { file }),
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                // The owner is useful in the message, but not worth failing for.
                let _ = file.read_to_string(&mut by);
                let by =
                    if by.trim().is_empty() { "another process".to_string() } else { by.trim().to_string() };
                Err(OpenError::InUse { folder: folder.to_path_buf(), by })
            }
            Err(TryLockError::Error(error)) => Err(OpenError::io(folder, error)),
        }
    }

    /// Writes who holds the folder, to be reported to others.
    pub fn record_owner(&mut self) {
        let seconds = clock::unix_seconds();
        let text = format!("process {}, which opened it on {}\n", std::process::id(), utc(seconds));
        let written = self
            .file
            .rewind()
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.set_len(text.len() as u64));
        if let Err(error) = written {
            // The lock itself holds.
            tracing::warn!(%error, "the owner of the folder could not be recorded");
        }
    }
}

/// Seconds since 1970 in human-readable form.
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
    fn formats_timestamps() {
        assert_eq!(utc(0), "1970-01-01 at 00:00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 at 23:59:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 at 00:00:00 UTC");
        assert_eq!(utc(1_798_761_599), "2026-12-31 at 23:59:59 UTC");
    }
}
