//! The durable watermark: up to which record the log is known to be on disk.
//!
//! ```text
//! log/DURABLE   sequence (8) │ crc32 (4)
//! ```
//! It is also written to a file, which is never waited for: after a crash of the process the file is exact, after a
//! power loss it may be slightly behind.
//!
//! With full durability the log advances the watermark itself, record by record. With relaxed durability the written
//! files are collected here and synced later. If that fails, it is unknown what the disk has of these records: the log
//! continues in another segment, and the records in doubt are safe once the tree has them, half a second later.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::folder::file_read;
use crate::folder::private_files;

const FILE_NAME: &str = "DURABLE";

#[derive(Default)]
pub(crate) struct DurableWatermark {
    /// All records up to this one are on disk.
    sequence: AtomicU64,
    /// The file that holds the watermark, if it could be opened.
    file: Option<File>,
    unsynced: Mutex<Unsynced>,
    /// Held while files are synced, so that a sync also waits for one in progress.
    syncing: Mutex<()>,
}

#[derive(Default)]
struct Unsynced {
    files: Vec<Arc<File>>,
    /// The last record written to these files.
    last: u64,
    /// The records up to this one may be lost until the tree has them.
    in_doubt: Option<u64>,
    /// Whether a sync has failed since the log last checked.
    has_failed: bool,
}

/// The watermark recorded in a log's folder, or 0 if there is none.
pub(crate) fn read(log: &Path) -> io::Result<u64> {
    let file = match file_read::whole(&log.join(FILE_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        file => file?,
    };
    Ok(match (file.first_chunk::<8>(), file.get(8..12)) {
        (Some(sequence), Some(checksum)) if checksum == crc32fast::hash(sequence).to_le_bytes() => {
            u64::from_le_bytes(*sequence)
        }
        _ => 0,
    })
}

impl DurableWatermark {
    /// For the log in this folder, which is durable up to `sequence`.
    pub fn start(log: &Path, sequence: u64) -> DurableWatermark {
        let file = private_files::options().open(log.join(FILE_NAME));
        if let Err(error) = &file {
            tracing::warn!(%error, "the durable watermark of the commit log is not recorded");
        }
        let durable = DurableWatermark {
            sequence: AtomicU64::new(sequence),
            file: file.ok(),
            ..DurableWatermark::default()
        };
        if read(log).is_ok_and(|recorded| recorded > sequence) {
            // Records beyond it were just discarded. Until that is durable, a power loss would bring back the old watermark.
            let is_written = durable.write_file(sequence);
            if !is_written || durable.file.as_ref().is_some_and(|file| file.sync_data().is_err()) {
                tracing::warn!("after a power loss the discarded records may be reported as missing again");
            }
        }
        durable
    }

    /// All records up to this one are in the durable log, or in the tree.
    pub fn advance_to(&self, sequence: u64) {
        if self.sequence.fetch_max(sequence, Ordering::AcqRel) < sequence {
            self.write_file(sequence);
        }
    }

    /// Whether the log's folder can be written to.
    pub fn is_writable(&self) -> bool {
        self.write_file(self.sequence())
    }

    fn write_file(&self, sequence: u64) -> bool {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&sequence.to_le_bytes());
        bytes[8..].copy_from_slice(&crc32fast::hash(&sequence.to_le_bytes()).to_le_bytes());
        // If this fails, the old watermark remains, which is lower but not wrong.
        self.file.as_ref().is_some_and(|file| file.write_all_at(&bytes, 0).is_ok())
    }

    pub fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    /// Registers a file that a record was written to and that must be synced.
    pub fn add_unsynced(&self, file: &Arc<File>, sequence: u64) {
        let mut unsynced = self.lock();
        unsynced.last = sequence;
        if unsynced.has_failed {
            // It was written while a sync of the same file failed.
            unsynced.in_doubt = Some(sequence);
        }
        if !unsynced.files.last().is_some_and(|last| Arc::ptr_eq(last, file)) {
            unsynced.files.push(Arc::clone(file));
        }
    }

    /// Syncs the files that were added so far.
    pub fn sync(&self) {
        let _syncing = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, last) = {
            let mut unsynced = self.lock();
            (std::mem::take(&mut unsynced.files), unsynced.last)
        };
        if files.is_empty() {
            return;
        }
        self.after_sync(sync_files(&files), last);
    }

    /// The files with the records up to `last` were synced, or that failed.
    fn after_sync(&self, synced: io::Result<()>, last: u64) {
        let mut unsynced = self.lock();
        if let Err(error) = synced {
            tracing::error!(%error, "the commit log could not be synced; continuing in another segment");
            // The same failure may affect what was written meanwhile, and the system reports it only once.
            unsynced.in_doubt = Some(unsynced.last);
            unsynced.has_failed = true;
        } else if unsynced.in_doubt.is_none() {
            self.advance_to(last);
        }
    }

    /// All records up to this one are in the tree.
    pub fn applied(&self, sequence: u64) {
        self.lock().in_doubt.take_if(|last| *last <= sequence);
        self.advance_to(sequence);
    }

    /// Whether a sync has failed since the last call.
    pub fn take_failure(&self) -> bool {
        std::mem::take(&mut self.lock().has_failed)
    }

    fn lock(&self) -> MutexGuard<'_, Unsynced> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Syncs all files, even if some fail.
fn sync_files(files: &[Arc<File>]) -> io::Result<()> {
    files.iter().map(|file| file.sync_data()).fold(Ok(()), io::Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_the_watermark() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), 0);
        let durable = DurableWatermark::start(folder.path(), 4);
        assert_eq!(read(folder.path()).unwrap(), 0);
        durable.advance_to(9);
        durable.advance_to(7);
        assert_eq!(read(folder.path()).unwrap(), 9);
        DurableWatermark::start(folder.path(), 12);
        assert_eq!(read(folder.path()).unwrap(), 9);
        DurableWatermark::start(folder.path(), 8);
        assert_eq!(read(folder.path()).unwrap(), 8);
        std::fs::write(folder.path().join(FILE_NAME), [1; 12]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), 0);
    }

    #[test]
    fn records_of_a_failed_sync_are_durable_once_the_tree_has_them() {
        let durable = DurableWatermark::default();
        let good = Arc::new(tempfile::tempfile().unwrap());
        // A device that accepts all writes and cannot be synced.
        let bad = Arc::new(File::options().write(true).open("/dev/null").unwrap());
        durable.add_unsynced(&good, 3);
        durable.sync();
        assert_eq!((durable.sequence(), durable.take_failure()), (3, false));
        durable.add_unsynced(&bad, 5);
        durable.sync();
        assert_eq!((durable.sequence(), durable.take_failure(), durable.take_failure()), (3, true, false));
        durable.add_unsynced(&good, 7);
        durable.sync();
        assert_eq!(durable.sequence(), 3);
        durable.applied(6);
        assert_eq!(durable.sequence(), 6);
        durable.add_unsynced(&good, 8);
        durable.sync();
        assert_eq!(durable.sequence(), 8);
    }

    #[test]
    fn records_written_during_a_failed_sync_are_durable_once_the_tree_has_them() {
        let durable = DurableWatermark::default();
        let good = Arc::new(tempfile::tempfile().unwrap());
        durable.add_unsynced(&good, 1);
        // Records 2 and 3 arrive while record 1 is being synced; record 3 is registered later.
        durable.add_unsynced(&good, 2);
        durable.after_sync(Err(io::Error::other("no disk")), 1);
        durable.add_unsynced(&good, 3);
        assert!(durable.take_failure());
        for applied in [1, 2] {
            durable.applied(applied);
            durable.sync();
            durable.add_unsynced(&good, 4);
            assert_eq!(durable.sequence(), applied);
        }
        durable.applied(3);
        durable.sync();
        assert_eq!(durable.sequence(), 4);
    }
}
