//! The object that an import reads, kept open from step to step. After a restart it is opened again, and the records that
//! are done are skipped.

use crate::bucket::{Bucket, ReadFailure};
use crate::import_step::ImportRecord;
use crate::table::Table;
use partita_api::exchange::ExchangeFailure;
use partita_api::import::{ImportCompression, ImportFormat};
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::{InputFormat, ItemReader};
use partita_value::Item;
use std::io::{BufReader, Read};

/// Records read in one step.
const PAGE_RECORDS: u64 = 256;
/// … or this many bytes of them.
const PAGE_BYTES: u64 = 1 << 20;

pub struct OpenObject {
    arn: String,
    object: usize,
    records: u64,
    reader: ItemReader<BufReader<Box<dyn Read + Send>>>,
    read_failure: ReadFailure,
}

/// What a step has read.
#[derive(Default)]
pub struct Page {
    pub items: Vec<Item>,
    pub records: u64,
    pub bytes: u64,
    pub errors: u64,
    /// The object has no more.
    pub ended: bool,
}

impl OpenObject {
    /// The object of a record, at the place where the record is.
    pub fn at(
        kept: Option<OpenObject>,
        record: &ImportRecord,
        bucket: &Bucket,
        table: &Table,
    ) -> Result<OpenObject, ExchangeFailure> {
        let is_there = |open: &OpenObject| {
            (&open.arn, open.object, open.records) == (&record.import.arn, record.object, record.records)
        };
        if let Some(open) = kept.filter(is_there) {
            return Ok(open);
        }
        let key = record.objects.iter().flatten().nth(record.object).cloned().unwrap_or_default();
        let compression = match record.import.compression {
            ImportCompression::None => Compression::None,
            ImportCompression::Gzip => Compression::Gzip,
            ImportCompression::Zstd => Compression::Zstd,
        };
        let object = bucket.read(&key)?;
        let read_failure = object.failure();
        let source = BufReader::new(compression.reader(BufReader::new(object)));
        let reader = ItemReader::new(source, input_format(record, table));
        let (arn, object) = (record.import.arn.clone(), record.object);
        let mut open = OpenObject { arn, object, records: 0, reader, read_failure };
        while open.records < record.records && open.reader.read().is_ok_and(|read| read.is_some()) {
            open.records += 1;
        }
        open.unless_unreadable(())?;
        Ok(open)
    }

    pub fn page(&mut self) -> Result<Page, ExchangeFailure> {
        let mut page = Page::default();
        while page.records < PAGE_RECORDS && page.bytes < PAGE_BYTES {
            match self.reader.read() {
                Ok(Some(record)) => {
                    page.records += 1;
                    page.bytes += record.bytes;
                    match record.item {
                        Ok(item) => page.items.push(item),
                        Err(error) => {
                            tracing::warn!(import = self.arn, error, "a record cannot be imported");
                            page.errors += 1;
                        }
                    }
                }
                Ok(None) => {
                    page.ended = true;
                    break;
                }
                Err(error) => {
                    // A malformed object: the rest of it cannot be understood.
                    tracing::warn!(import = self.arn, %error, "an object cannot be read to its end");
                    page.errors += 1;
                    page.ended = true;
                    break;
                }
            }
        }
        self.records += page.records;
        self.unless_unreadable(page)
    }

    /// An object that the bucket does not give is not a malformed one: nothing can be said about its records.
    fn unless_unreadable<T>(&self, read: T) -> Result<T, ExchangeFailure> {
        self.read_failure.get().map_or(Ok(read), |failure| Err(failure.clone()))
    }
}

fn input_format(record: &ImportRecord, table: &Table) -> InputFormat {
    match record.import.format {
        ImportFormat::DynamoDbJson => InputFormat::DynamoDbJson,
        ImportFormat::Ion => InputFormat::Ion,
        ImportFormat::Csv => {
            let options = record.import.csv.clone().unwrap_or_default();
            let definitions = table.record.attribute_definitions.iter();
            InputFormat::Csv {
                delimiter: options.delimiter.and_then(|c| u8::try_from(c).ok()).unwrap_or(b','),
                header: options.header,
                keys: definitions.map(|key| (key.name.clone(), key.kind)).collect(),
            }
        }
    }
}
