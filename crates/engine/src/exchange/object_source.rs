//! The objects that an import or a bulk operation reads. One is kept open from step to step; after a restart it is opened again, and
//! the records that are done are skipped.

use crate::bucket::{Bucket, Buckets, Listed, ReadFailure, internal_failure};
use partita_api::exchange::{ExchangeFailure, InputCompression};
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::{InputFormat, ItemReader, NextRecord, PutLine, Record};
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Items read in one step.
const PAGE_ITEMS: usize = 256;
/// … or this many records, those included that are no items.
const PAGE_RECORDS: usize = 4_096;
/// … or this many bytes.
const PAGE_BYTES: u64 = 1 << 20;
/// As much is shown of a record that is no item.
const SHOWN_BYTES: usize = 512 << 10;

/// How far the objects are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The object that is being read, and how many of its records are done.
    pub object: String,
    pub records: u64,
}

/// Where an import or a bulk operation reads.
pub struct Source {
    pub buckets: Option<Arc<dyn Buckets>>,
    pub bucket: String,
    pub prefix: String,
    /// Another bucket that must be there.
    pub output: Option<String>,
    pub compression: InputCompression,
    pub format: InputFormat,
}

/// What is kept in memory from step to step, and made again after a restart.
#[derive(Default)]
pub struct OpenSource {
    /// The objects, in order. They are listed once: they must not change meanwhile.
    objects: Option<Vec<Listed>>,
    open: Option<OpenObject>,
}

/// What a step has read.
pub enum Reading {
    /// The objects were listed: the first of them, and their bytes together.
    Listed { first: Option<String>, bytes: u64 },
    /// A page, and the object behind this one.
    Page { page: Page, next: Option<String> },
}

impl OpenSource {
    /// Reads the next page; if it stands nowhere yet, only the objects are listed.
    pub fn read(&mut self, source: &Source, place: Option<&Place>) -> Result<Reading, ExchangeFailure> {
        let bucket = Bucket::open(source.buckets.as_ref(), &source.bucket)?;
        if let Some(output) = &source.output {
            Bucket::open(source.buckets.as_ref(), output)?;
        }
        if self.objects.is_none() {
            self.objects = Some(bucket.list(&source.prefix)?);
        }
        let objects = self.objects.as_deref().unwrap_or_default();
        let Some(place) = place else {
            let first = objects.first().map(|listed| listed.key.clone());
            return Ok(Reading::Listed { first, bytes: objects.iter().map(|listed| listed.bytes).sum() });
        };
        let next = objects.get(objects.partition_point(|listed| listed.key <= place.object));
        let next = next.map(|listed| listed.key.clone());
        let mut open = match self.open.take().filter(|open| open.place == *place) {
            Some(open) => open,
            None => OpenObject::at(place, &bucket, source)?,
        };
        let page = open.page()?;
        self.open = Some(open);
        Ok(Reading::Page { page, next })
    }
}

struct OpenObject {
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
    fn at(place: &Place, bucket: &Bucket, source: &Source) -> Result<OpenObject, ExchangeFailure> {
        let compression = match source.compression {
            InputCompression::None => Compression::None,
            InputCompression::Gzip => Compression::Gzip,
            InputCompression::Zstd => Compression::Zstd,
        };
        let read_bytes = Arc::new(AtomicU64::new(0));
        let object = bucket.read(&place.object)?;
        let read_failure = object.failure();
        let counted = Counted { source: object, read_bytes: Arc::clone(&read_bytes) };
        let text = compression.reader(BufReader::new(counted)).map_err(|_| internal_failure())?;
        let reader = ItemReader::new(BufReader::new(text), &source.format);
        let mut open =
            OpenObject { place: Place { records: 0, ..place.clone() }, reader, read_bytes, read_failure };
        while open.place.records < place.records {
            match open.reader.read() {
                Ok(NextRecord::Record(_)) => open.place.records += 1,
                Ok(NextRecord::Skipped(_)) => {}
                Ok(NextRecord::End) | Err(_) => break,
            }
        }
        open.unless_unreadable(())?;
        Ok(open)
    }

    fn page(&mut self) -> Result<Page, ExchangeFailure> {
        let (mut page, mut items, mut without_records) = (Page::default(), 0, 0);
        while items < PAGE_ITEMS
            && page.records.len() < PAGE_RECORDS
            && page.bytes + without_records < PAGE_BYTES
            && !page.ended
        {
            match self.reader.read() {
                Ok(NextRecord::Record(record)) => {
                    items += usize::from(record.put.is_ok());
                    page.bytes += record.bytes;
                    page.records.push(self.judged(*record));
                }
                Ok(NextRecord::Skipped(bytes)) => without_records += bytes,
                Ok(NextRecord::End) => page.ended = true,
                Err(error) => {
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
