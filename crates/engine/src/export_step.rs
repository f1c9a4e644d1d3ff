//! Exports in the background. A step reads a part of the table, writes it as a data file and stores how far it came; killed in
//! between, it writes the same file again. A table that is not large is read out of one snapshot.

use crate::Engine;
use crate::bucket::{Bucket, failure};
use crate::exchange_record::ExchangeRecord;
use crate::maintenance::Progress;
use crate::stored_key::{self, ExchangeKind, Key};
use crate::table::Table;
use partita_api::exchange::{ExchangeFailure, ExchangeStatus};
use partita_api::export::Export;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::compression::Compression;
use partita_exchange::item_writer;
use partita_exchange::manifest::{self, DataFile, Summary};
use partita_store::{Counters, Direction, Snapshot, Store, StoreError};
use partita_value::{ItemRef, ValueRef, ordered_key};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A data file has about so many bytes before it is compressed.
const PART_BYTES: usize = 8 << 20;
/// A table of at most so many bytes is exported in one step, out of one snapshot.
const ONE_SNAPSHOT_BYTES: i64 = 32 << 20;

/// An export as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportRecord {
    pub export: Export,
    pub table: String,
    /// The last stored key that is in a data file.
    pub cursor: Option<Vec<u8>>,
    pub files: Vec<DataFile>,
}

impl ExchangeRecord for ExportRecord {
    const KIND: ExchangeKind = ExchangeKind::Export;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ExportNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::ExportConflictException;

    fn arn(&self) -> &str {
        &self.export.arn
    }

    fn table_arn(&self) -> &str {
        &self.export.table_arn
    }

    fn is_open(&self) -> bool {
        self.export.status == ExchangeStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.export.ended_millis
    }
}

/// What becomes one data file.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    items: u64,
    bytes: u64,
    last_key: Option<Vec<u8>>,
    is_last: bool,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn export_step(&self) -> Result<Progress, Exception> {
        let Some(mut record) = self.open_exchange::<ExportRecord>(&self.open_exports)? else {
            return Ok(Progress::Done);
        };
        if let Err(failure) = self.advance_export(&mut record) {
            if self.has_stopped_exchanges() {
                return Ok(Progress::Done);
            }
            record.export.status = ExchangeStatus::Failed;
            record.export.ended_millis = Some(self.clock.now_millis());
            record.export.failure = Some(failure);
        }
        self.keep(record).await?;
        Ok(Progress::More)
    }

    fn advance_export(&self, record: &mut ExportRecord) -> Result<(), ExchangeFailure> {
        let bucket = Bucket::open(self.buckets.get(), &record.export.target.bucket)?;
        let table =
            self.catalog.find(&record.table).filter(|table| table.record.id == record.export.table_id);
        let table =
            table.ok_or_else(|| failure("TableNotFound", "The table was deleted during the export"))?;
        if record.files.is_empty() {
            bucket.write(&record.key("_started"), b"")?;
        }
        let snapshot = self.store.snapshot().map_err(unreadable)?;
        if record.files.is_empty() {
            // The picture is that of the first snapshot, not of the request.
            record.export.export_time_millis = self.clock.now_millis();
        }
        let counters = snapshot.get(&Key::Counters { of: table.space }.to_bytes()).map_err(unreadable)?;
        let is_short = Counters::read(counters.as_deref()).bytes <= ONE_SNAPSHOT_BYTES;
        loop {
            let part = read_part(&snapshot, &table, record)?;
            let is_last = part.is_last;
            record.write(&bucket, part)?;
            if is_last {
                return record.finish(&bucket, self.clock.now_millis());
            }
            if !is_short {
                return Ok(());
            }
        }
    }
}

fn unreadable(error: StoreError) -> ExchangeFailure {
    tracing::error!(%error, "the store failed during an export");
    failure("InternalServerError", "Internal server error")
}

fn read_part(
    snapshot: &impl Snapshot,
    table: &Table,
    record: &ExportRecord,
) -> Result<Part, ExchangeFailure> {
    let mut range = stored_key::segment(table.space, 0, 1);
    if let Some(cursor) = &record.cursor {
        range.start = stored_key::just_behind(cursor);
    }
    let mut part = Part { is_last: true, ..Part::default() };
    let visit = |key: &[u8], row: &[u8]| {
        if part.lines.len() >= PART_BYTES {
            part.is_last = false;
            return ControlFlow::Break(());
        }
        if let Some(item) = ItemRef::new(row) {
            item_writer::write(record.export.format, item, &mut part.lines);
            part.items += 1;
            part.bytes += item.size() as u64;
        }
        part.last_key = Some(key.to_vec());
        ControlFlow::Continue(())
    };
    snapshot.range(&range, Direction::Ascending, visit).map_err(unreadable)?;
    Ok(part)
}

impl ExportRecord {
    /// The key of one of the export's objects.
    fn key(&self, name: &str) -> String {
        let prefix = self.export.target.prefix.as_deref().unwrap_or_default().trim_end_matches('/');
        let separator = if prefix.is_empty() { "" } else { "/" };
        format!("{prefix}{separator}AWSDynamoDB/{}/{name}", self.id())
    }

    /// Writes a data file. Its name depends on its number only, so that a repetition replaces it.
    fn write(&mut self, bucket: &Bucket, part: Part) -> Result<(), ExchangeFailure> {
        let number = format!("{} {}", self.id(), self.files.len());
        let name = ordered_key::token(std::iter::once(ValueRef::S(number.as_bytes())));
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = self.key(&format!("data/{name}.{}", item_writer::ending(self.export.format)));
        let bytes = Compression::Gzip.piece(part.lines);
        bucket.write(&key, &bytes)?;
        self.files.push(DataFile::new(key, &bytes, part.items));
        self.export.items += part.items;
        self.export.bytes += part.bytes;
        self.cursor = part.last_key.or_else(|| self.cursor.take());
        Ok(())
    }

    /// The manifests come last: where there is a summary, the export is whole.
    fn finish(&mut self, bucket: &Bucket, now: u64) -> Result<(), ExchangeFailure> {
        let (files_key, summary_key) = (self.key("manifest-files.json"), self.key("manifest-summary.json"));
        let files = manifest::files(&self.files);
        bucket.write(&files_key, &files)?;
        bucket.write(&self.key("manifest-files.md5"), &manifest::checksum(&files))?;
        let export = &self.export;
        let summary = manifest::summary(&Summary {
            version: manifest::VERSION,
            export_arn: &export.arn,
            start_time: manifest::timestamp(export.started_millis),
            end_time: manifest::timestamp(now),
            table_arn: &export.table_arn,
            table_id: &export.table_id,
            export_time: manifest::timestamp(export.export_time_millis),
            s3_bucket: &export.target.bucket,
            s3_prefix: export.target.prefix.as_deref(),
            s3_sse_algorithm: export.target.sse_algorithm.as_deref().unwrap_or("AES256"),
            s3_sse_kms_key_id: export.target.kms_key.as_deref(),
            manifest_files_s3_key: files_key,
            billed_size_bytes: export.bytes,
            item_count: export.items,
            output_format: export.format.name(),
            export_type: "FULL_EXPORT",
        });
        bucket.write(&summary_key, &summary)?;
        bucket.write(&self.key("manifest-summary.md5"), &manifest::checksum(&summary))?;
        self.export.status = ExchangeStatus::Completed;
        self.export.ended_millis = Some(now);
        self.export.manifest = Some(summary_key);
        Ok(())
    }
}
