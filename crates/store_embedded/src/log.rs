//! The commit log: the writes of one group after another, durable with one flush each.
//!
//! What is in the log has happened. The tree follows in the background; after a crash, recovery gives it what it
//! had not yet. Records of one run are numbered without a gap. When a flush fails, nobody can say what the disk
//! has: then the log takes no more, until the store is opened again and looks.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_store::StoreError;

use crate::Durability;
use crate::batch::Batch;
use crate::failure::io_error;
use crate::record::{self, Stamp};
use crate::segments::{Segment, Segments};

pub(crate) struct Log {
    segments: Arc<Segments>,
    unflushed: Arc<Unflushed>,
    stamp: Stamp,
    current: Option<Writing>,
    /// Why it takes no more.
    broken: Option<StoreError>,
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
    /// Continues behind `last`, the last record that recovery found.
    pub fn start(segments: Arc<Segments>, unflushed: Arc<Unflushed>, last: Stamp) -> Log {
        Log { segments, unflushed, stamp: last, current: None, broken: None, record: Vec::new() }
    }

    /// Appends a group. Once this returns it is as durable as asked for; after an error it is not there.
    pub fn append(&mut self, batch: &Batch) -> Result<Appended, StoreError> {
        if let Some(error) = self.broken.clone().or_else(|| self.unflushed.failure()) {
            return Err(error);
        }
        let stamp = Stamp { sequence: self.stamp.sequence + 1, ..self.stamp };
        record::encode(&mut self.record, stamp, batch)?;
        let bytes = self.record.len();
        let writing = self.segment_for(bytes as u64)?;
        let (file, offset) = (Arc::clone(&writing.segment.file), writing.offset);
        if let Err(error) = write_at(&file, offset, &self.record) {
            self.erase(&file, offset);
            return Err(io_error(&error));
        }
        match stamp.durability {
            Durability::Full => self.flush(&file)?,
            Durability::Relaxed => self.unflushed.add(file),
        }
        if let Some(writing) = &mut self.current {
            writing.offset += bytes as u64;
            if writing.offset > writing.segment.bytes / 2 {
                self.segments.want();
            }
        }
        self.stamp = stamp;
        Ok(Appended { sequence: stamp.sequence, bytes })
    }

    fn segment_for(&mut self, bytes: u64) -> Result<&Writing, StoreError> {
        let last = self.stamp.sequence;
        if let Some(full) = self.current.take_if(|writing| writing.segment.bytes - writing.offset < bytes) {
            self.segments.put_back(full.segment, last);
        }
        if self.current.is_none() {
            let segment = self.segments.take(bytes).map_err(|error| io_error(&error))?;
            self.current = Some(Writing { segment, offset: 0 });
        }
        self.current.as_ref().ok_or(StoreError::Closed)
    }

    fn flush(&mut self, file: &File) -> Result<(), StoreError> {
        file.sync_data().map_err(|error| {
            let broken = flush_failed(&error);
            self.broken = Some(broken.clone());
            broken
        })
    }

    /// Makes sure that recovery does not find a record which was refused.
    fn erase(&mut self, file: &File, offset: u64) {
        if let Err(error) = write_at(file, offset, &[0; record::BLOCK_BYTES]) {
            self.broken = Some(flush_failed(&error));
        }
    }
}

fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

fn flush_failed(error: &io::Error) -> StoreError {
    let text = format!("the commit log could not be written ({error}); open the store again");
    tracing::error!("{text}");
    StoreError::Io(text)
}

/// Files that a relaxed log has written to and the disk may not have yet.
#[derive(Default)]
pub(crate) struct Unflushed {
    state: Mutex<UnflushedState>,
    /// Held while files are flushed, so that to flush is also to wait for others who do.
    flushing: Mutex<()>,
}

#[derive(Default)]
struct UnflushedState {
    files: Vec<Arc<File>>,
    failure: Option<StoreError>,
}

impl Unflushed {
    /// Flushes what has been added until now.
    pub fn flush(&self) {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let files = std::mem::take(&mut self.lock().files);
        for file in files {
            if let Err(error) = file.sync_data() {
                self.lock().failure = Some(flush_failed(&error));
            }
        }
    }

    fn add(&self, file: Arc<File>) {
        let mut state = self.lock();
        if !state.files.last().is_some_and(|last| Arc::ptr_eq(last, &file)) {
            state.files.push(file);
        }
    }

    fn failure(&self) -> Option<StoreError> {
        self.lock().failure.clone()
    }

    fn lock(&self) -> MutexGuard<'_, UnflushedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
