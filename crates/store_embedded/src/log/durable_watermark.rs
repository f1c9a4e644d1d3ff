//! How far the disk is known to have the log.
//!
//! ```text
//! log/DURABLE   sequence (8) │ crc32 (4)
//! ```
//! This is also noted in a file, which nobody waits for: after a crash of the process it says exactly how much there
//! must be, after a power loss it says a little less.
//!
//! A log of full durability says so itself, record by record. For a relaxed one the files that were written to are
//! noted here and flushed later. When that fails, nobody can say what the disk has of these records: the log goes on
//! in another segment, and the lost ones are safe once the tree has them, half a second later.

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
pub(crate) struct Durable {
    /// The disk has all records up to this one.
    sequence: AtomicU64,
    /// Where that is noted, if it can be.
    note: Option<File>,
    unflushed: Mutex<Unflushed>,
    /// Held while files are flushed, so that to flush is also to wait for others who do.
    flushing: Mutex<()>,
}

#[derive(Default)]
struct Unflushed {
    files: Vec<Arc<File>>,
    /// The last record written to them.
    last: u64,
    /// The records up to this one may be lost until the tree has them.
    doubtful: Option<u64>,
    /// Whether a flush has failed since the log last asked.
    has_failed: bool,
}

/// What a log's folder says that the disk has.
pub(crate) fn noted(log: &Path) -> io::Result<u64> {
    let note = match file_read::whole(&log.join(FILE_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        note => note?,
    };
    Ok(match (note.first_chunk::<8>(), note.get(8..12)) {
        (Some(sequence), Some(sum)) if sum == crc32fast::hash(sequence).to_le_bytes() => {
            u64::from_le_bytes(*sequence)
        }
        _ => 0,
    })
}

impl Durable {
    /// For the log in this folder, of which the disk has all up to `sequence`.
    pub fn start(log: &Path, sequence: u64) -> Durable {
        let note = private_files::options().open(log.join(FILE_NAME));
        if let Err(error) = &note {
            tracing::warn!(%error, "how far the commit log is durable is not noted");
        }
        let durable = Durable { sequence: AtomicU64::new(sequence), note: note.ok(), ..Durable::default() };
        if noted(log).is_ok_and(|noted| noted > sequence) {
            // What was beyond has just been given up. Until that is durable a power loss would bring the old note back.
            let is_noted = durable.write_note(sequence);
            if !is_noted || durable.note.as_ref().is_some_and(|note| note.sync_data().is_err()) {
                tracing::warn!("after a power loss the records that were given up may be asked for again");
            }
        }
        durable
    }

    /// The disk, or the tree, has all records up to this one.
    pub fn reach(&self, sequence: u64) {
        if self.sequence.fetch_max(sequence, Ordering::AcqRel) < sequence {
            self.write_note(sequence);
        }
    }

    /// Whether the log's folder can be written to.
    pub fn can_be_noted(&self) -> bool {
        self.write_note(self.sequence())
    }

    fn write_note(&self, sequence: u64) -> bool {
        let mut note = [0; 12];
        note[..8].copy_from_slice(&sequence.to_le_bytes());
        note[8..].copy_from_slice(&crc32fast::hash(&sequence.to_le_bytes()).to_le_bytes());
        // Should it fail, the old note stands, which says less and nothing wrong.
        self.note.as_ref().is_some_and(|file| file.write_all_at(&note, 0).is_ok())
    }

    pub fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    /// A record was written to this file and is to be flushed.
    pub fn add(&self, file: &Arc<File>, sequence: u64) {
        let mut unflushed = self.lock();
        unflushed.last = sequence;
        if unflushed.has_failed {
            // It was written while a flush of the same file failed.
            unflushed.doubtful = Some(sequence);
        }
        if !unflushed.files.last().is_some_and(|last| Arc::ptr_eq(last, file)) {
            unflushed.files.push(Arc::clone(file));
        }
    }

    /// Flushes what has been added until now.
    pub fn flush(&self) {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, last) = {
            let mut unflushed = self.lock();
            (std::mem::take(&mut unflushed.files), unflushed.last)
        };
        if files.is_empty() {
            return;
        }
        self.after_flush(sync_all(&files), last);
    }

    /// The files with the records up to `last` were flushed, or that failed.
    fn after_flush(&self, flushed: io::Result<()>, last: u64) {
        let mut unflushed = self.lock();
        if let Err(error) = flushed {
            tracing::error!(%error, "the commit log could not be flushed; going on in another segment");
            // The same failure may have hit what was written meanwhile, and is told only once.
            unflushed.doubtful = Some(unflushed.last);
            unflushed.has_failed = true;
        } else if unflushed.doubtful.is_none() {
            self.reach(last);
        }
    }

    /// The tree has all records up to this one.
    pub fn applied(&self, sequence: u64) {
        self.lock().doubtful.take_if(|last| *last <= sequence);
        self.reach(sequence);
    }

    /// Whether a flush has failed since this was last asked.
    pub fn has_failed(&self) -> bool {
        std::mem::take(&mut self.lock().has_failed)
    }

    fn lock(&self) -> MutexGuard<'_, Unflushed> {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Flushes all of them, whichever fails.
fn sync_all(files: &[Arc<File>]) -> io::Result<()> {
    files.iter().map(|file| file.sync_data()).fold(Ok(()), io::Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_how_far_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(noted(folder.path()).unwrap(), 0);
        let durable = Durable::start(folder.path(), 4);
        assert_eq!(noted(folder.path()).unwrap(), 0);
        durable.reach(9);
        durable.reach(7);
        assert_eq!(noted(folder.path()).unwrap(), 9);
        Durable::start(folder.path(), 12);
        assert_eq!(noted(folder.path()).unwrap(), 9);
        Durable::start(folder.path(), 8);
        assert_eq!(noted(folder.path()).unwrap(), 8);
        std::fs::write(folder.path().join(FILE_NAME), [1; 12]).unwrap();
        assert_eq!(noted(folder.path()).unwrap(), 0);
    }

    #[test]
    fn records_of_a_failed_flush_count_once_the_tree_has_them() {
        let durable = Durable::default();
        let good = Arc::new(tempfile::tempfile().unwrap());
        // A device that takes everything and cannot be flushed.
        let bad = Arc::new(File::options().write(true).open("/dev/null").unwrap());
        durable.add(&good, 3);
        durable.flush();
        assert_eq!((durable.sequence(), durable.has_failed()), (3, false));
        durable.add(&bad, 5);
        durable.flush();
        assert_eq!((durable.sequence(), durable.has_failed(), durable.has_failed()), (3, true, false));
        durable.add(&good, 7);
        durable.flush();
        assert_eq!(durable.sequence(), 3);
        durable.applied(6);
        assert_eq!(durable.sequence(), 6);
        durable.add(&good, 8);
        durable.flush();
        assert_eq!(durable.sequence(), 8);
    }

    #[test]
    fn what_was_written_during_a_failed_flush_counts_once_the_tree_has_it() {
        let durable = Durable::default();
        let good = Arc::new(tempfile::tempfile().unwrap());
        durable.add(&good, 1);
        // Records 2 and 3 come while record 1 is being flushed; of record 3 that is told later.
        durable.add(&good, 2);
        durable.after_flush(Err(io::Error::other("no disk")), 1);
        durable.add(&good, 3);
        assert!(durable.has_failed());
        for applied in [1, 2] {
            durable.applied(applied);
            durable.flush();
            durable.add(&good, 4);
            assert_eq!(durable.sequence(), applied);
        }
        durable.applied(3);
        durable.flush();
        assert_eq!(durable.sequence(), 4);
    }
}
