//! The commit log: the writes of one group after another, durable with one flush each.
//!
//! What is in the log has happened. The tree follows in the background; after a crash, recovery reads what the tree
//! had not yet. Records are numbered without a gap. When a record cannot be written or flushed, nobody can say what
//! the disk has of it: it is written again to another segment, which begins with its number, so that the first try
//! counts for nothing. If that fails as well, the group is refused.

use std::sync::Arc;

use partita_store::StoreError;

use crate::Durability;
use crate::batch::Batch;
use crate::durable::Durable;
use crate::environment::Environment;
use crate::failure::log_error;
use crate::position::Position;
use crate::record::{self, BLOCK_BYTES, Stamp};
use crate::segments::{FIRST_RECORD_AT, Segment, Segments};

pub(crate) struct Log {
    environment: Arc<Environment>,
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
        environment: Arc<Environment>,
        segments: Arc<Segments>,
        durable: Arc<Durable>,
        durability: Durability,
        sequence: u64,
        is_open: bool,
    ) -> Log {
        Log {
            environment,
            segments,
            durable,
            durability,
            sequence,
            is_open,
            current: None,
            record: Vec::new(),
        }
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
            let segment = self.segments.take(bytes, self.next_stamp()).map_err(|error| log_error(&error))?;
            self.current = Some(Writing { segment, offset: FIRST_RECORD_AT });
        }
        if !self.is_open {
            let position = Position::open(self.sequence, self.sequence);
            self.environment.write(|tree, txn| tree.position.set(txn, position))?;
            self.is_open = true;
        }
        Ok(())
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
