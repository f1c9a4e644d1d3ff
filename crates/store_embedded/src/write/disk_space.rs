//! Room on the disk, allocated before it is needed: behind the end of the data file, where LMDB will grow into it, and
//! in the file of its pages' sums.
//!
//! What was acknowledged must fit into the data file, and to delete needs room first: LMDB writes new pages before it
//! can use the old ones again. So room for all that is pending, and some more, is allocated before anything is
//! acknowledged. When the disk has no more, only what makes room is taken until there is some again.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_store::StoreError;
use rustix::io::Errno;

use crate::error::io_error;
use crate::folder::creation::DATA_NAME;
use crate::pages::checksums;

/// Room is allocated in steps of this size, or of the smaller one when the disk is nearly full.
const STEPS: [u64; 2] = [16 << 20, 1 << 20];
/// Room for what deletions write.
const DELETION_BYTES: u64 = 4 << 20;

pub(crate) struct Room {
    data_file: File,
    sums: File,
    /// The data file has room up to here.
    end: AtomicU64,
    /// Whether the disk is full, as far as it is known.
    is_short: AtomicBool,
}

impl Room {
    pub fn of(folder: &Path) -> io::Result<Room> {
        let data_file = File::options().write(true).open(folder.join(DATA_NAME))?;
        let sums = File::options().write(true).open(folder.join(checksums::FILE_NAME))?;
        Ok(Room { data_file, sums, end: AtomicU64::new(0), is_short: AtomicBool::new(false) })
    }

    /// Why nothing can be added at the moment, if so.
    pub fn shortage(&self) -> Option<StoreError> {
        let is_short = self.is_short.load(Ordering::Relaxed);
        is_short.then(|| StoreError::Full("there is no room for more in the data folder".to_string()))
    }

    /// Sees to it that there is room for so much that is pending. `unused` says how much of the data file is.
    pub fn cover(&self, pending: u64, unused: impl Fn() -> u64) -> Result<(), StoreError> {
        let needed = needed(pending);
        match self.allocate(needed) {
            Err(StoreError::Full(_)) if unused() < needed => {
                self.run_short();
                self.shortage().map_or(Ok(()), Err)
            }
            Err(StoreError::Full(_)) | Ok(()) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Looks whether there is room again, if there was none.
    pub fn look(&self, pending: u64, unused: impl Fn() -> u64) {
        // More than is needed now, lest it be short again at once.
        let wanted = needed(pending) + DELETION_BYTES;
        if self.shortage().is_some() && (self.allocate(wanted).is_ok() || unused() >= wanted) {
            tracing::info!("there is room again");
            self.is_short.store(false, Ordering::Relaxed);
        }
    }

    /// The disk is full.
    pub fn run_short(&self) {
        if !self.is_short.swap(true, Ordering::Relaxed) {
            tracing::error!("the disk is full: until there is room only deletions are taken");
        }
    }

    /// Sees to it that the data file can grow by so much.
    fn allocate(&self, needed: u64) -> Result<(), StoreError> {
        let length = self.data_file.metadata().map_err(|error| io_error(&error))?.len();
        if length + needed <= self.end.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut outcome = Ok(());
        for step in STEPS {
            let bytes = needed + step;
            let sums = checksums::bytes_for(length + bytes);
            outcome = reserve(&self.data_file, length, bytes).and_then(|()| reserve(&self.sums, 0, sums));
            if outcome.is_ok() {
                self.end.store(length + bytes, Ordering::Relaxed);
                break;
            }
        }
        outcome
    }
}

fn reserve(file: &File, from: u64, bytes: u64) -> Result<(), StoreError> {
    match allocate(file, from, bytes) {
        // A file system that cannot do this cannot be helped.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(io_error(&error.into())),
    }
}

/// Allocates room within or behind a file without making it longer.
#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, bytes: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, from, bytes)
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// The room for so much that is pending: pages are filled by half at worst.
fn needed(pending: u64) -> u64 {
    2 * pending + DELETION_BYTES
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn follows_what_is_pending_and_leaves_the_file_as_long_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DATA_NAME);
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        std::fs::write(folder.path().join(checksums::FILE_NAME), b"").unwrap();
        let room = Room::of(folder.path()).unwrap();
        for pending in [100, 20 << 20, 50 << 20] {
            room.cover(pending, || 0).unwrap();
            let file = std::fs::metadata(&path).unwrap();
            assert!(file.blocks() * 512 >= needed(pending));
            assert_eq!(file.len(), 10_000);
        }
        assert!(room.shortage().is_none());
        room.run_short();
        assert!(matches!(room.shortage(), Some(StoreError::Full(_))));
        room.look(0, || 0);
        assert!(room.shortage().is_none());
    }

    #[test]
    fn room_within_the_data_file_will_do() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DATA_NAME), b"").unwrap();
        std::fs::write(folder.path().join(checksums::FILE_NAME), b"").unwrap();
        let room = Room::of(folder.path()).unwrap();
        // More than any disk has.
        let pending = 1 << 55;
        room.cover(pending, || needed(pending)).unwrap();
        assert!(matches!(room.cover(pending, || needed(pending) - 1), Err(StoreError::Full(_))));
        room.look(pending, || needed(pending));
        assert!(room.shortage().is_some());
        room.look(pending, || needed(pending) + DELETION_BYTES);
        assert!(room.shortage().is_none());
    }
}
