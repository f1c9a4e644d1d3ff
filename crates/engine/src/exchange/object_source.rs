//! The objects that an import or bulk operation reads. The current one stays open between steps; after a restart it is opened again
//! and the processed records are skipped.

use crate::bucket::{Bucket, Buckets, Listed, ReadFailure, internal_failure};
use partita_api::exchange::{ExchangeFailure, InputCompression};
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::{InputFormat, ItemReader, NextRecord, PutLine, Record};
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A batch ends after this many items,
const BATCH_ITEMS: usize = 256;
/// … or this many records, valid or not,
const BATCH_RECORDS: usize = 4_096;
/// … or this many bytes.
const BATCH_BYTES: u64 = 1 << 20;
/// The text of an invalid record is truncated to this length.
const INVALID_TEXT_BYTES: usize = 512 << 10;

/// How far the objects have been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    pub object: String,
    /// How many records of the object have been processed.
    pub records: u64,
}

/// What an import or bulk operation reads, and how.
pub struct Source {
    pub buckets: Option<Arc<dyn Buckets>>,
    pub bucket: String,
    pub prefix: String,
    /// Another bucket that must exist.
    pub output: Option<String>,
    pub compression: InputCompression,
    pub format: InputFormat,
}

/// The state of a source between two steps. It is not stored, but built again after a restart.
#[derive(Default)]
pub struct OpenSource {
    /// The objects, in order. They are listed once and must not change while they are read.
    objects: Option<Vec<Listed>>,
    open: Option<OpenObject>,
}

/// What a step has read.
pub enum Reading {
    /// The objects were listed: the first of them, and their total size.
    Listed { first: Option<String>, bytes: u64 },
    /// A batch of records, and the object after this one.
    Batch { batch: RecordBatch, next: Option<String> },
}

impl OpenSource {
    /// Reads the next batch; without a position, only lists the objects.
    pub fn read(
        &mut self,
        source: &Source,
        position: Option<&SourcePosition>,
    ) -> Result<Reading, ExchangeFailure> {
        let bucket = Bucket::open(source.buckets.as_ref(), &source.bucket)?;
        if let Some(output) = &source.output {
            Bucket::open(source.buckets.as_ref(), output)?;
        }
        if self.objects.is_none() {
            self.objects = Some(bucket.list(&source.prefix)?);
        }
        let objects = self.objects.as_deref().unwrap_or_default();
        let Some(position) = position else {
            let first = objects.first().map(|listed| listed.key.clone());
            return Ok(Reading::Listed { first, bytes: objects.iter().map(|listed| listed.bytes).sum() });
        };
        let next = objects.get(objects.partition_point(|listed| listed.key <= position.object));
        let next = next.map(|listed| listed.key.clone());
        let mut open = match self.open.take().filter(|open| open.position == *position) {
            Some(open) => open,
            None => OpenObject::at(position, &bucket, source)?,
        };
        let batch = open.next_batch()?;
        self.open = Some(open);
        Ok(Reading::Batch { batch, next })
    }
}

struct OpenObject {
    position: SourcePosition,
    reader: ItemReader<BufReader<Box<dyn Read + Send>>>,
    /// How many bytes of the stored, possibly compressed object were read.
    read_bytes: Arc<AtomicU64>,
    read_failure: ReadFailure,
}

/// A record that does not contain a valid item.
pub struct InvalidRecord {
    pub reason: String,
    pub text: String,
}

#[derive(Default)]
pub struct RecordBatch {
    pub records: Vec<Result<PutLine, InvalidRecord>>,
    /// The decompressed size of the records.
    pub bytes: u64,
    /// How many bytes of the stored, possibly compressed object were read so far.
    pub object_bytes: u64,
    /// The object has no more records.
    pub ended: bool,
    /// Why the rest of the object cannot be parsed.
    pub broken: Option<String>,
}

impl OpenObject {
    fn at(
        position: &SourcePosition,
        bucket: &Bucket,
        source: &Source,
    ) -> Result<OpenObject, ExchangeFailure> {
        let compression = match source.compression {
            InputCompression::None => Compression::None,
            InputCompression::Gzip => Compression::Gzip,
            InputCompression::Zstd => Compression::Zstd,
        };
        let read_bytes = Arc::new(AtomicU64::new(0));
        let object = bucket.read(&position.object)?;
        let read_failure = object.failure();
        let counted = Counted { source: object, read_bytes: Arc::clone(&read_bytes) };
        let text = compression.reader(BufReader::new(counted)).map_err(|_| internal_failure())?;
        let reader = ItemReader::new(BufReader::new(text), &source.format);
        let mut open = OpenObject {
            position: SourcePosition { records: 0, ..position.clone() },
            reader,
            read_bytes,
            read_failure,
        };
        while open.position.records < position.records {
            match open.reader.read() {
                Ok(NextRecord::Record(_)) => open.position.records += 1,
                Ok(NextRecord::Skipped(_)) => {}
                Ok(NextRecord::End) | Err(_) => break,
            }
        }
        open.check_readable()?;
        Ok(open)
    }

    fn next_batch(&mut self) -> Result<RecordBatch, ExchangeFailure> {
        let (mut batch, mut items, mut bytes_without_records) = (RecordBatch::default(), 0, 0);
        while items < BATCH_ITEMS
            && batch.records.len() < BATCH_RECORDS
            && batch.bytes + bytes_without_records < BATCH_BYTES
            && !batch.ended
        {
            match self.reader.read() {
                Ok(NextRecord::Record(record)) => {
                    items += usize::from(record.put.is_ok());
                    batch.bytes += record.bytes;
                    batch.records.push(self.validated(*record));
                }
                Ok(NextRecord::Skipped(bytes)) => bytes_without_records += bytes,
                Ok(NextRecord::End) => batch.ended = true,
                Err(error) => {
                    batch.broken = Some(error.to_string());
                    batch.ended = true;
                }
            }
        }
        self.position.records += batch.records.len() as u64;
        batch.object_bytes = self.read_bytes.load(Ordering::Relaxed);
        self.check_readable()?;
        Ok(batch)
    }

    /// An object that the bucket fails to deliver is not a malformed one: nothing is known about its records.
    fn check_readable(&self) -> Result<(), ExchangeFailure> {
        self.read_failure.get().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    fn validated(&self, record: Record) -> Result<PutLine, InvalidRecord> {
        record.put.map_err(|reason| {
            let text = self.reader.text();
            let truncated = &text[..text.len().min(INVALID_TEXT_BYTES)];
            InvalidRecord { reason, text: String::from_utf8_lossy(truncated).into_owned() }
        })
    }
}

struct Counted<R> {
    source: R,
    read_bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.read_bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
