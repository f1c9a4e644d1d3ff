//! What a bulk operation tells about records that it did not put. Lines are stored in rows of their own until there are enough of
//! them for an object, so that none is lost or told twice, whenever the process ends.

use crate::Engine;
use crate::bucket::Bucket;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::data_files;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::key::stored_key::{self, ExchangeKind, Key};
use crate::offload::aside::{Hindrance, aside_with_bucket};
use crate::storage_failed;
use partita_api::Exception;
use partita_api::bulk_operation::OutputType;
use partita_exchange::compression::Compression;
use partita_exchange::item_writer::{FailedPut, encode_failed_put};
use partita_exchange::manifest::DataFile;
use partita_store::{Direction, Snapshot, Store, Write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BulkReports {
    /// What is in no row yet. Early versions stored everything here that was in no object.
    #[serde(default)]
    waiting: BTreeMap<OutputType, Lines>,
    /// What is in rows, and in no object yet.
    #[serde(default)]
    stored: BTreeMap<OutputType, Stored>,
    /// Those that early versions stored here.
    #[serde(default)]
    files: Vec<DataFile>,
    /// How many objects there are.
    #[serde(default)]
    written: u64,
    /// What is to be stored about objects that were written just now.
    #[serde(skip)]
    news: Vec<Write>,
    #[serde(skip)]
    new_files: Vec<DataFile>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lines {
    text: String,
    count: u64,
}

/// Rows of one output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stored {
    rows: Range<u64>,
    bytes: usize,
    count: u64,
}

impl BulkReports {
    pub fn add(&mut self, kind: OutputType, failed: &FailedPut<'_>) {
        let mut line = Vec::new();
        encode_failed_put(failed, &mut line);
        let lines = self.waiting.entry(kind).or_default();
        lines.text.push_str(&String::from_utf8_lossy(&line));
        lines.count += 1;
    }

    /// What is to be stored now, beside the operation's progress. From then on nothing waits.
    pub fn take_writes(&mut self, id: &str) -> Vec<Write> {
        let mut writes = std::mem::take(&mut self.news);
        self.new_files.clear();
        for (kind, lines) in std::mem::take(&mut self.waiting) {
            let stored = self.stored.entry(kind).or_default();
            let key = row_key(id, kind, stored.rows.end);
            stored.rows.end += 1;
            stored.bytes += lines.text.len();
            stored.count += lines.count;
            writes.push(Write::Put { key, value: lines.text.into_bytes() });
        }
        writes
    }

    /// Those that have become as long as this.
    fn due(&self, least_bytes: usize) -> Vec<OutputType> {
        let bytes = |kind: &OutputType| {
            let waiting = self.waiting.get(kind).map_or(0, |lines| lines.text.len());
            self.stored.get(kind).map_or(0, |stored| stored.bytes) + waiting
        };
        let kinds = [OutputType::Error, OutputType::ConditionCheckFailure].into_iter();
        kinds.filter(|kind| bytes(kind) >= least_bytes.max(1)).collect()
    }

    /// The rows and lines of an output are in an object now.
    fn move_to_object(&mut self, id: &str, kind: OutputType, file: DataFile) {
        let stored = self.stored.entry(kind).or_default();
        let rows = stored.rows.clone();
        *stored = Stored { rows: rows.end..rows.end, ..Stored::default() };
        self.waiting.remove(&kind);
        self.news.extend(rows.map(|number| Write::Delete { key: row_key(id, kind, number) }));
        self.news.push(data_files::store(id, self.written(), &file));
        self.new_files.push(file);
        self.written = self.written() + 1;
    }

    fn count(&self, kind: OutputType) -> u64 {
        let waiting = self.waiting.get(&kind).map_or(0, |lines| lines.count);
        self.stored.get(&kind).map_or(0, |stored| stored.count) + waiting
    }

    /// How many objects there are; early versions did not store the number.
    fn written(&self) -> u64 {
        self.written.max(self.files.len() as u64)
    }

    /// Forgets its data files, which a manifest lists.
    pub fn end(&mut self, id: &str) -> Vec<Write> {
        let mut writes = self.take_writes(id);
        let rows = self.stored.iter().flat_map(|(kind, stored)| {
            stored.rows.clone().map(|number| Write::Delete { key: row_key(id, *kind, number) })
        });
        writes.extend(rows);
        writes.extend(data_files::forget(id, self.written()));
        *self = BulkReports { written: self.written(), ..BulkReports::default() };
        writes
    }
}

fn row_key(id: &str, kind: OutputType, number: u64) -> Vec<u8> {
    let (id, output) = (id.as_bytes(), Some(output_byte(kind)));
    Key::ExchangePart { kind: ExchangeKind::Report, id, output, number }.to_bytes()
}

fn output_byte(kind: OutputType) -> u8 {
    match kind {
        OutputType::Error => 1,
        OutputType::ConditionCheckFailure => 2,
    }
}

impl<S: Store> Engine<S> {
    /// Writes those that have become as long as this. An object's name depends on its number only, so that a repetition
    /// replaces it.
    pub(crate) async fn write_reports(
        &self,
        record: &mut BulkRecord,
        least_bytes: usize,
    ) -> Result<(), Hindrance> {
        for kind in record.reports.due(least_bytes) {
            let text = self.report_text(record, kind)?;
            let name = format!("data/{}/{:06}.json.gz", kind.name(), record.reports.written());
            let (key, count) = (record.output_key(&name), record.reports.count(kind));
            let (buckets, bucket) =
                (self.buckets.get().cloned(), record.operation.output.target.bucket.clone());
            let file = aside_with_bucket(move || {
                let bytes = Compression::Gzip.compress(text);
                Bucket::open(buckets.as_ref(), &bucket)?.write(&key, &bytes)?;
                Ok(DataFile::new(key, &bytes, count))
            })
            .await?;
            let id = record.id().to_owned();
            record.reports.move_to_object(&id, kind, file);
        }
        Ok(())
    }

    /// All lines of an output that are in no object yet.
    fn report_text(&self, record: &BulkRecord, kind: OutputType) -> Result<Vec<u8>, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let id = record.id().as_bytes();
        let mut text = Vec::new();
        let range = stored_key::exchange_parts(ExchangeKind::Report, id, Some(output_byte(kind)));
        let visit = |_: &[u8], row: &[u8]| {
            text.extend_from_slice(row);
            ControlFlow::Continue(())
        };
        snapshot.range(&range, Direction::Ascending, visit).map_err(storage_failed)?;
        let waiting = record.reports.waiting.get(&kind).map_or("", |lines| &lines.text);
        text.extend_from_slice(waiting.as_bytes());
        Ok(text)
    }

    /// All objects, those included that are not stored yet.
    pub(crate) fn report_files(&self, record: &BulkRecord) -> Result<Vec<DataFile>, Exception> {
        let mut files = record.reports.files.clone();
        files.extend(self.data_files(record.id())?);
        files.extend(record.reports.new_files.iter().cloned());
        Ok(files)
    }
}
