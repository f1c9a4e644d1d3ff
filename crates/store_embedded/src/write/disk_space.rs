//! Disk space, allocated before it is needed: beyond the end of the data file, where LMDB will grow into it, and in the
//! checksum file.
//!
//! What was acknowledged must fit into the data file, and deleting needs space first: LMDB writes new pages before it can
//! reuse the old ones. So space for everything pending, and some more, is allocated before anything is acknowledged. When
//! the disk is full, only writes that free space are accepted until there is some again.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_store::StoreError;
use rustix::io::Errno;

use crate::error::io_error;
use crate::folder::creation::DATA_NAME;
use crate::pages::checksums;

/// Space is allocated in steps of this size, or of the smaller one when the disk is nearly full.
const STEPS: [u64; 2] = [16 << 20, 1 << 20];
/// Space for what deletions write.
const DELETION_BYTES: u64 = 4 << 20;

pub(crate) struct DiskSpace {
    data_file: File,
    checksums: File,
    /// The data file has space allocated up to here.
    end: AtomicU64,
    /// Whether the disk is full, as far as is known.
    is_full: AtomicBool,
}

impl DiskSpace {
    pub fn of(folder: &Path) -> io::Result<DiskSpace> {
        let data_file = File::options().write(true).open(folder.join(DATA_NAME))?;
        let checksums = File::options().write(true).open(folder.join(checksums::FILE_NAME))?;
        Ok(DiskSpace { data_file, checksums, end: AtomicU64::new(0), is_full: AtomicBool::new(false) })
    }

    /// Why nothing can be added at the moment, if so.
    pub fn shortage(&self) -> Option<StoreError> {
        let is_full = self.is_full.load(Ordering::Relaxed);
        is_full.then(|| StoreError::Full("the disk of the data folder has no space left".to_string()))
    }

    /// Ensures that there is space for this much pending data. `unused` returns the unused bytes of the data file.
    pub fn ensure_space(&self, pending: u64, unused: impl Fn() -> u64) -> Result<(), StoreError> {
        let needed = needed(pending);
        match self.allocate(needed) {
            Err(StoreError::Full(_)) if unused() < needed => {
                self.mark_full();
                self.shortage().map_or(Ok(()), Err)
            }
            Err(StoreError::Full(_)) | Ok(()) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Checks whether there is space again, if there was none.
    pub fn recheck(&self, pending: u64, unused: impl Fn() -> u64) {
        // More than is needed now, so that it is not full again immediately.
        let required = needed(pending) + DELETION_BYTES;
        if self.shortage().is_some() && (self.allocate(required).is_ok() || unused() >= required) {
            tracing::info!("there is disk space again");
            self.is_full.store(false, Ordering::Relaxed);
        }
    }

    /// Records that the disk is full.
    pub fn mark_full(&self) {
        if !self.is_full.swap(true, Ordering::Relaxed) {
            tracing::error!("the disk is full: until there is space only deletions are accepted");
        }
    }

    /// Ensures that the data file can grow by this much.
    fn allocate(&self, needed: u64) -> Result<(), StoreError> {
        let length = self.data_file.metadata().map_err(|error| io_error(&error))?.len();
        if length + needed <= self.end.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut outcome = Ok(());
        for step in STEPS {
            let bytes = needed + step;
            let checksums = checksums::bytes_for(length + bytes);
            outcome = preallocate(&self.data_file, length, bytes)
                .and_then(|()| preallocate(&self.checksums, 0, checksums));
            if outcome.is_ok() {
                self.end.store(length + bytes, Ordering::Relaxed);
                break;
            }
        }
        outcome
    }
}

fn preallocate(file: &File, from: u64, bytes: u64) -> Result<(), StoreError> {
    match allocate(file, from, bytes) {
        // A file system that does not support this is left as it is.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(io_error(&error.into())),
    }
}

/// Allocates space within or beyond a file without changing its length.
#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, bytes: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, from, bytes)
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// The space for this much pending data: pages are half full at worst.
fn needed(pending: u64) -> u64 {
    2 * pending + DELETION_BYTES
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn follows_pending_data_and_keeps_the_file_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DATA_NAME);
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        std::fs::write(folder.path().join(checksums::FILE_NAME), b"").unwrap();
        let disk_space = DiskSpace::of(folder.path()).unwrap();
        for pending in [100, 20 << 20, 50 << 20] {
            disk_space.ensure_space(pending, || 0).unwrap();
            let file = std::fs::metadata(&path).unwrap();
            assert!(file.blocks() * 512 >= needed(pending));
            assert_eq!(file.len(), 10_000);
        }
        assert!(disk_space.shortage().is_none());
        disk_space.mark_full();
        assert!(matches!(disk_space.shortage(), Some(StoreError::Full(_))));
        disk_space.recheck(0, || 0);
        assert!(disk_space.shortage().is_none());
    }

    #[test]
    fn unused_space_within_the_data_file_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DATA_NAME), b"").unwrap();
        std::fs::write(folder.path().join(checksums::FILE_NAME), b"").unwrap();
        let disk_space = DiskSpace::of(folder.path()).unwrap();
        // More than any disk has.
        let pending = 1 << 55;
        disk_space.ensure_space(pending, || needed(pending)).unwrap();
        assert!(matches!(disk_space.ensure_space(pending, || needed(pending) - 1), Err(StoreError::Full(_))));
        disk_space.recheck(pending, || needed(pending));
        assert!(disk_space.shortage().is_some());
        disk_space.recheck(pending, || needed(pending) + DELETION_BYTES);
        assert!(disk_space.shortage().is_none());
    }
}
