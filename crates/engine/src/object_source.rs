//! The object that an import or a bulk operation reads, kept open from step to step. After a restart it is opened again, and
//! the records that are done are skipped.

use crate::bucket::{Bucket, ReadFailure};
use partita_api::exchange::{ExchangeFailure, InputCompression};
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::{InputFormat, ItemReader, PutLine, Record};
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records read in one step.
const PAGE_RECORDS: usize = 256;
/// … or this many bytes of them.
const PAGE_BYTES: u64 = 1 << 20;
/// As much is shown of a record that is no item.
const SHOWN_BYTES: usize = 512 << 10;

/// Who reads which object, and how many of its records are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub reader: String,
    pub key: String,
    pub records: u64,
}

pub struct OpenObject {
    place: Place,
    reader: ItemReader<BufReader<Box<dyn Read + Send>>>,
    /// How much of the object itself was read, compressed as it is.
    read_bytes: Arc<AtomicU64>,
    read_failure: ReadFailure,
}

/// A record that is no item.
pub struct BadRecord {
    pub reason: String,
    pub text: String,
}

/// What a step has read.
#[derive(Default)]
pub struct Page {
    pub records: Vec<Result<PutLine, BadRecord>>,
    /// The length of the records, decompressed.
    pub bytes: u64,
    /// How much of the object was read until now, compressed as it is.
    pub object_bytes: u64,
    /// The object has no more.
    pub ended: bool,
    /// Why the rest of the object cannot be understood.
    pub broken: Option<String>,
}

impl OpenObject {
    /// The object at a place: the one that was kept, if it is there.
    pub fn at(
        kept: Option<OpenObject>,
        place: &Place,
        bucket: &Bucket,
        compression: InputCompression,
        format: InputFormat,
    ) -> Result<OpenObject, ExchangeFailure> {
        if let Some(open) = kept.filter(|open| open.place == *place) {
            return Ok(open);
        }
        let compression = match compression {
            InputCompression::None => Compression::None,
            InputCompression::Gzip => Compression::Gzip,
            InputCompression::Zstd => Compression::Zstd,
        };
        let read_bytes = Arc::new(AtomicU64::new(0));
        let object = bucket.read(&place.key)?;
        let read_failure = object.failure();
        let counted = Counted { source: object, read_bytes: Arc::clone(&read_bytes) };
        let source = BufReader::new(compression.reader(BufReader::new(counted)));
        let mut open = OpenObject {
            place: Place { records: 0, ..place.clone() },
            reader: ItemReader::new(source, format),
            read_bytes,
            read_failure,
        };
        while open.place.records < place.records && open.reader.read().is_ok_and(|read| read.is_some()) {
            open.place.records += 1;
        }
        open.unless_unreadable(())?;
        Ok(open)
    }

    pub fn page(&mut self) -> Result<Page, ExchangeFailure> {
        let mut page = Page::default();
        while page.records.len() < PAGE_RECORDS && page.bytes < PAGE_BYTES && !page.ended {
            match self.reader.read() {
                Ok(Some(record)) => {
                    page.bytes += record.bytes;
                    page.records.push(self.judged(record));
                }
                Ok(None) => page.ended = true,
                Err(error) => {
                    tracing::warn!(reader = self.place.reader, %error, "an object cannot be read to its end");
                    page.broken = Some(error.to_string());
                    page.ended = true;
                }
            }
        }
        self.place.records += page.records.len() as u64;
        page.object_bytes = self.read_bytes.load(Ordering::Relaxed);
        self.unless_unreadable(page)
    }

    /// An object that the bucket does not give is not a malformed one: nothing can be said about its records.
    fn unless_unreadable<T>(&self, read: T) -> Result<T, ExchangeFailure> {
        self.read_failure.get().map_or(Ok(read), |failure| Err(failure.clone()))
    }

    fn judged(&self, record: Record) -> Result<PutLine, BadRecord> {
        record.put.map_err(|reason| {
            let text = self.reader.text();
            let shown = &text[..text.len().min(SHOWN_BYTES)];
            BadRecord { reason, text: String::from_utf8_lossy(shown).into_owned() }
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
