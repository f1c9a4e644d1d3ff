//! The commit log: the writes of one group after another, durable with one flush each.
//!
//! What is in the log has happened. The tree follows in the background; after a crash, recovery reads what the tree
//! had not yet. Records are numbered without a gap. When a record cannot be written or flushed, nobody can say what
//! the disk has of it: it is written again to another segment, which begins with its number, so that the first try
//! counts for nothing. If that fails as well, the group is refused.

use crate::clock;
use std::sync::Arc;
use std::time::Duration;

use partita_store::StoreError;

use crate::Durability;
use crate::error::log_error;
use crate::log::durable_watermark::Durable;
use crate::log::position::Position;
use crate::log::record::{self, BLOCK_BYTES, Stamp};
use crate::log::segments::{FIRST_RECORD_AT, Segment, Segments};
use crate::write::batch::Batch;
use crate::write::store_state::Shared;

const PAUSE_WHEN_FULL: Duration = Duration::from_millis(20);

pub(crate) struct Log {
    shared: Arc<Shared>,
    segments: Arc<Segments>,
    durable: Arc<Durable>,
    durability: Durability,
    /// The last record.
    sequence: u64,
    /// Whether the tree says that the log may have more than it.
    is_open: bool,
    current: Option<Writing>,
    record: Vec<u8>,
}

/// The segment being written, and how far.
struct Writing {
    segment: Segment,
    offset: u64,
}

/// What was appended.
pub(crate) struct Appended {
    pub sequence: u64,
    pub bytes: usize,
}

impl Log {
    /// Continues behind the record `sequence`, the last that recovery found.
    pub fn start(
        shared: Arc<Shared>,
        segments: Arc<Segments>,
        durable: Arc<Durable>,
        durability: Durability,
        sequence: u64,
        is_open: bool,
    ) -> Log {
        Log { shared, segments, durable, durability, sequence, is_open, current: None, record: Vec::new() }
    }

    /// Appends a group. Once this returns it is as durable as asked for; after an error it is not there.
    pub fn append(&mut self, batch: &Batch) -> Result<Appended, StoreError> {
        let body = record::encode(&mut self.record, batch)?;
        if self.durability == Durability::Relaxed && self.durable.has_failed() {
            self.leave_segment();
        }
        self.make_ready()?;
        if let Err(error) = self.write(body) {
            tracing::error!(%error, "the commit log could not be written; going on in another segment");
            self.leave_segment();
            self.make_ready()?;
            self.write(body).inspect_err(|_| self.leave_segment())?;
        }
        self.sequence += 1;
        Ok(Appended { sequence: self.sequence, bytes: self.record.len() })
    }

    fn next_stamp(&self) -> Stamp {
        let durable = match self.durability {
            Durability::Full => self.sequence,
            Durability::Relaxed => self.durable.sequence(),
        };
        Stamp { sequence: self.sequence + 1, durable }
    }

    /// Sees to it that there is a segment with room for the encoded record, and that it would be looked at.
    fn make_ready(&mut self) -> Result<(), StoreError> {
        let bytes = self.record.len() as u64;
        if self.current.as_ref().is_some_and(|writing| writing.segment.bytes - writing.offset < bytes) {
            self.leave_segment();
        }
        if self.current.is_none() {
            let segment = self.take_segment(bytes)?;
            self.current = Some(Writing { segment, offset: FIRST_RECORD_AT });
        }
        if !self.is_open {
            self.open()?;
            self.is_open = true;
        }
        Ok(())
    }

    /// On a full disk the only segments to be had are those whose records go to the tree meanwhile.
    fn take_segment(&self, bytes: u64) -> Result<Segment, StoreError> {
        let until = clock::monotonic_now() + self.shared.pending.patience_when_full();
        loop {
            let taken = self.segments.take(bytes, self.next_stamp()).map_err(|error| log_error(&error));
            let Err(StoreError::Full(_)) = taken else { return taken };
            self.shared.room.run_short();
            if clock::monotonic_now() >= until {
                return taken;
            }
            std::thread::sleep(PAUSE_WHEN_FULL);
        }
    }

    /// Has the tree say that the log may have more than it.
    fn open(&self) -> Result<(), StoreError> {
        let position = Position::open(self.sequence, self.sequence);
        self.shared.environment.write(|tree, txn| tree.position.set(txn, position))
    }

    /// Writes the encoded record as the next one.
    fn write(&mut self, body: usize) -> Result<(), StoreError> {
        let stamp = self.next_stamp();
        let Some(Writing { segment, offset }) = &mut self.current else { return Err(StoreError::Closed) };
        record::seal(&mut self.record, body, &segment.salt, stamp);
        let written = write_at(segment, *offset, &self.record).and_then(|()| match self.durability {
            Durability::Full => segment.file.sync_data(),
            Durability::Relaxed => Ok(()),
        });
        if let Err(error) = written {
            // A record that is refused had better not be found. Should this fail too, a later one takes its number.
            let _ = write_at(segment, *offset, &[0; BLOCK_BYTES]);
            return Err(log_error(&error));
        }
        match self.durability {
            Durability::Full => self.durable.reach(stamp.sequence),
            Durability::Relaxed => self.durable.add(&segment.file, stamp.sequence),
        }
        *offset += self.record.len() as u64;
        if *offset > segment.bytes / 2 {
            self.segments.want();
        }
        Ok(())
    }

    fn leave_segment(&mut self) {
        if self.current.take().is_some() {
            self.segments.put_back(self.sequence);
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
    use crate::write::disk_space::Room;
    use crate::write::pending::{Pacing, Pending};
    use crate::write::write_health::Trouble;

    fn shared(folder: &Path) -> Arc<Shared> {
        std::fs::create_dir_all(folder.join("log")).unwrap();
        crate::folder::creation::make_data_file(folder).unwrap();
        Arc::new(Shared {
            environment: Arc::new(Environment::open(folder).unwrap()),
            pending: Arc::new(Pending::new(Pacing::of(crate::Pace::Lazy), Vec::new())),
            room: Room::of(folder).unwrap(),
            trouble: Trouble::default(),
        })
    }

    fn log(folder: &Path, shared: &Arc<Shared>, durability: Durability) -> Log {
        let segments = Arc::new(Segments::of(&folder.join("log"), Vec::new(), false).unwrap());
        let durable = Arc::new(Durable::start(&folder.join("log"), 0));
        Log::start(Arc::clone(shared), segments, durable, durability, 0, false)
    }

    fn batch(number: u8) -> Batch {
        let mut batch = Batch::default();
        let put = Write::Put { key: vec![0, 0, 0, 1, number], value: vec![number; 100] };
        batch.take(vec![put], |_| Ok(Counters::default())).unwrap();
        batch
    }

    /// Has the log write to another file instead of its segment.
    fn spoil(log: &mut Log, file: File) {
        log.current.as_mut().unwrap().segment.file = Arc::new(file);
    }

    /// Takes everything and cannot be flushed.
    fn unflushable() -> File {
        File::options().read(true).write(true).open("/dev/null").unwrap()
    }

    /// Cannot be written.
    fn unwritable() -> File {
        File::open("/dev/null").unwrap()
    }

    fn recovered(folder: &Path, shared: &Shared) -> Vec<u8> {
        let recovered = recovery::recover(folder, &shared.environment, OnDamage::Refuse).unwrap();
        recovered.batch.rows().map(|(key, _)| key[4]).collect()
    }

    #[test]
    fn one_failure_is_got_over() {
        let folder = tempfile::tempdir().unwrap();
        let shared = shared(folder.path());
        let mut log = log(folder.path(), &shared, Durability::Full);
        for (number, spoilt) in [(1, None), (2, Some(unflushable())), (3, None), (4, Some(unwritable()))] {
            if let Some(file) = spoilt {
                spoil(&mut log, file);
            }
            assert_eq!(log.append(&batch(number)).unwrap().sequence, u64::from(number));
        }
        assert_eq!(recovered(folder.path(), &shared), [1, 2, 3, 4]);
        assert_eq!(log.segments.live_segments(), 3);
    }

    #[test]
    fn what_was_refused_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let shared = shared(folder.path());
        let mut log = log(folder.path(), &shared, Durability::Full);
        log.append(&batch(1)).unwrap();
        // The segment fails, and no other can be had.
        spoil(&mut log, unwritable());
        let there = folder.path().join("log");
        std::fs::rename(&there, folder.path().join("away")).unwrap();
        assert!(matches!(log.append(&batch(2)), Err(StoreError::LogFailed(_))));
        std::fs::rename(folder.path().join("away"), &there).unwrap();
        assert_eq!(recovered(folder.path(), &shared), [1]);
        log.append(&batch(3)).unwrap();
        assert_eq!(recovered(folder.path(), &shared), [1, 3]);
    }

    #[test]
    fn a_relaxed_log_goes_on_in_another_segment_when_a_flush_fails() {
        let folder = tempfile::tempdir().unwrap();
        let shared = shared(folder.path());
        let mut log = log(folder.path(), &shared, Durability::Relaxed);
        log.append(&batch(1)).unwrap();
        log.durable.add(&Arc::new(unflushable()), 1);
        log.durable.flush();
        log.append(&batch(2)).unwrap();
        assert_eq!(log.segments.live_segments(), 2);
        // Nobody may rely on the first one yet.
        assert_eq!(log.durable.sequence(), 0);
        log.durable.applied(1);
        log.durable.flush();
        assert_eq!(log.durable.sequence(), 2);
        assert_eq!(recovered(folder.path(), &shared), [1, 2]);
    }
}
