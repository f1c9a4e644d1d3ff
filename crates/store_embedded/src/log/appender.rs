//! Appends to the commit log: one group of writes after another, each made durable with one sync.
//!
//! A write in the log is committed. The tree follows in the background; after a crash, recovery reads what the tree does
//! not have yet. Records are numbered without gaps. If a record cannot be written or synced, it is unknown what the disk
//! has of it: it is written again to another segment, which begins with its number, so that the first attempt is
//! ignored. If that fails as well, the group is refused.

use crate::clock;
use std::sync::Arc;
use std::time::Duration;

use partita_store::StoreError;

use crate::Durability;
use crate::error::log_error;
use crate::log::durable_watermark::DurableWatermark;
use crate::log::position::LogPosition;
use crate::log::record::{self, BLOCK_BYTES, Stamp};
use crate::log::segments::{FIRST_RECORD_AT, Segment, Segments};
use crate::write::batch::Batch;
use crate::write::store_state::StoreState;

const PAUSE_WHEN_FULL: Duration = Duration::from_millis(20);

pub(crate) struct LogAppender {
    state: Arc<StoreState>,
    segments: Arc<Segments>,
    durable: Arc<DurableWatermark>,
    durability: Durability,
    /// The sequence number of the last record.
    sequence: u64,
    /// Whether the tree says that the log may be ahead of it.
    is_open: bool,
    current: Option<CurrentSegment>,
    record: Vec<u8>,
}

/// The segment being written, and the current offset in it.
struct CurrentSegment {
    segment: Segment,
    offset: u64,
}

/// A record that was appended.
pub(crate) struct AppendedRecord {
    pub sequence: u64,
    pub bytes: usize,
}

impl LogAppender {
    /// Continues after the record `sequence`, the last one that recovery found.
    pub fn start(
        state: Arc<StoreState>,
        segments: Arc<Segments>,
        durable: Arc<DurableWatermark>,
        durability: Durability,
        sequence: u64,
        is_open: bool,
    ) -> LogAppender {
        LogAppender {
            state,
            segments,
            durable,
            durability,
            sequence,
            is_open,
            current: None,
            record: Vec::new(),
        }
    }

    /// Appends a group. Once this returns, it is as durable as configured; after an error it is not in the log.
    pub fn append(&mut self, batch: &Batch) -> Result<AppendedRecord, StoreError> {
        let body = record::encode(&mut self.record, batch)?;
        if self.durability == Durability::Relaxed && self.durable.take_failure() {
            self.retire_segment();
        }
        self.prepare_segment()?;
        if let Err(error) = self.write(body) {
            tracing::error!(%error, "the commit log could not be written; continuing in another segment");
            self.retire_segment();
            self.prepare_segment()?;
            self.write(body).inspect_err(|_| self.retire_segment())?;
        }
        self.sequence += 1;
        Ok(AppendedRecord { sequence: self.sequence, bytes: self.record.len() })
    }

    fn next_stamp(&self) -> Stamp {
        let durable = match self.durability {
            Durability::Full => self.sequence,
            Durability::Relaxed => self.durable.sequence(),
        };
        Stamp { sequence: self.sequence + 1, durable }
    }

    /// Ensures that there is a segment with space for the encoded record, and that recovery would read it.
    fn prepare_segment(&mut self) -> Result<(), StoreError> {
        let bytes = self.record.len() as u64;
        if self.current.as_ref().is_some_and(|writing| writing.segment.bytes - writing.offset < bytes) {
            self.retire_segment();
        }
        if self.current.is_none() {
            let segment = self.take_segment(bytes)?;
            self.current = Some(CurrentSegment { segment, offset: FIRST_RECORD_AT });
        }
        if !self.is_open {
            self.open()?;
            self.is_open = true;
        }
        Ok(())
    }

    /// On a full disk the only available segments are those whose records are applied to the tree meanwhile.
    fn take_segment(&self, bytes: u64) -> Result<Segment, StoreError> {
        let until = clock::monotonic_now() + self.state.pending.segment_timeout();
        loop {
            let taken = self.segments.take(bytes, self.next_stamp()).map_err(|error| log_error(&error));
            let Err(StoreError::Full(_)) = taken else { return taken };
            self.state.disk_space.mark_full();
            if clock::monotonic_now() >= until {
                return taken;
            }
            std::thread::sleep(PAUSE_WHEN_FULL);
        }
    }

    /// Records in the tree that the log may be ahead of it.
    fn open(&self) -> Result<(), StoreError> {
        let position = LogPosition::open(self.sequence, self.sequence);
        self.state.environment.write(|databases, txn| databases.position.set(txn, position))
    }

    /// Writes the encoded record as the next one.
    fn write(&mut self, body: usize) -> Result<(), StoreError> {
        let stamp = self.next_stamp();
        let Some(CurrentSegment { segment, offset }) = &mut self.current else {
            return Err(StoreError::Closed);
        };
        record::seal(&mut self.record, body, &segment.salt, stamp);
        let written = write_at(segment, *offset, &self.record).and_then(|()| match self.durability {
            Durability::Full => segment.file.sync_data(),
            Durability::Relaxed => Ok(()),
        });
        if let Err(error) = written {
            // Recovery should not find a refused record. If this fails too, a later record takes its number.
            let _ = write_at(segment, *offset, &[0; BLOCK_BYTES]);
            return Err(log_error(&error));
        }
        match self.durability {
            Durability::Full => self.durable.advance_to(stamp.sequence),
            Durability::Relaxed => self.durable.add_unsynced(&segment.file, stamp.sequence),
        }
        *offset += self.record.len() as u64;
        if *offset > segment.bytes / 2 {
            self.segments.request_spare();
        }
        Ok(())
    }

    fn retire_segment(&mut self) {
        if self.current.take().is_some() {
            self.segments.retire_current(self.sequence);
        }
    }
}

fn write_at(segment: &Segment, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(&*segment.file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use partita_store::{Counters, Write};

    use super::*;
    use crate::log::recovery::{self, OnDamage};
    use crate::tree::environment::Environment;
    use crate::write::disk_space::DiskSpace;
    use crate::write::pending::{Pacing, Pending};
    use crate::write::write_health::WriteHealth;

    fn state(folder: &Path) -> Arc<StoreState> {
        std::fs::create_dir_all(folder.join("log")).unwrap();
        crate::folder::creation::create_data_file(folder).unwrap();
        Arc::new(StoreState {
            environment: Arc::new(Environment::open(folder).unwrap()),
            pending: Arc::new(Pending::new(Pacing::of(crate::Pace::Lazy), Vec::new())),
            disk_space: DiskSpace::of(folder).unwrap(),
            write_health: WriteHealth::default(),
        })
    }

    fn log(folder: &Path, state: &Arc<StoreState>, durability: Durability) -> LogAppender {
        let segments = Arc::new(Segments::of(&folder.join("log"), Vec::new(), false).unwrap());
        let durable = Arc::new(DurableWatermark::start(&folder.join("log"), 0));
        LogAppender::start(Arc::clone(state), segments, durable, durability, 0, false)
    }

    fn batch(number: u8) -> Batch {
        let mut batch = Batch::default();
        let put = Write::Put { key: vec![0, 0, 0, 1, number], value: vec![number; 100] };
        batch.add(vec![put], |_| Ok(Counters::default())).unwrap();
        batch
    }

    /// Makes the log write to another file instead of its segment.
    fn replace_file(log: &mut LogAppender, file: File) {
        log.current.as_mut().unwrap().segment.file = Arc::new(file);
    }

    /// Accepts all writes and cannot be synced.
    fn unsyncable() -> File {
        File::options().read(true).write(true).open("/dev/null").unwrap()
    }

    /// Cannot be written.
    fn unwritable() -> File {
        File::open("/dev/null").unwrap()
    }

    fn recovered(folder: &Path, state: &StoreState) -> Vec<u8> {
        let recovered = recovery::recover(folder, &state.environment, OnDamage::Refuse).unwrap();
        recovered.batch.rows().map(|(key, _)| key[4]).collect()
    }

    #[test]
    fn a_single_failure_is_survived() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(folder.path());
        let mut log = log(folder.path(), &state, Durability::Full);
        for (number, spoiled) in [(1, None), (2, Some(unsyncable())), (3, None), (4, Some(unwritable()))] {
            if let Some(file) = spoiled {
                replace_file(&mut log, file);
            }
            assert_eq!(log.append(&batch(number)).unwrap().sequence, u64::from(number));
        }
        assert_eq!(recovered(folder.path(), &state), [1, 2, 3, 4]);
        assert_eq!(log.segments.live_segments(), 3);
    }

    #[test]
    fn a_refused_group_is_not_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(folder.path());
        let mut log = log(folder.path(), &state, Durability::Full);
        log.append(&batch(1)).unwrap();
        // The segment fails, and no other one is available.
        replace_file(&mut log, unwritable());
        let log_folder = folder.path().join("log");
        std::fs::rename(&log_folder, folder.path().join("away")).unwrap();
        assert!(matches!(log.append(&batch(2)), Err(StoreError::LogFailed(_))));
        std::fs::rename(folder.path().join("away"), &log_folder).unwrap();
        assert_eq!(recovered(folder.path(), &state), [1]);
        log.append(&batch(3)).unwrap();
        assert_eq!(recovered(folder.path(), &state), [1, 3]);
    }

    #[test]
    fn a_relaxed_log_continues_in_another_segment_after_a_failed_sync() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(folder.path());
        let mut log = log(folder.path(), &state, Durability::Relaxed);
        log.append(&batch(1)).unwrap();
        log.durable.add_unsynced(&Arc::new(unsyncable()), 1);
        log.durable.sync();
        log.append(&batch(2)).unwrap();
        assert_eq!(log.segments.live_segments(), 2);
        // The first record is not known to be durable yet.
        assert_eq!(log.durable.sequence(), 0);
        log.durable.applied(1);
        log.durable.sync();
        assert_eq!(log.durable.sequence(), 2);
        assert_eq!(recovered(folder.path(), &state), [1, 2]);
    }
}
