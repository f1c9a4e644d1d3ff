//! Advances exports in the background, in turn. The request has pinned the exported moments in the table's history. A step reads
//! a part of the past, writes it as a data file and stores its progress; if the process is killed in between, it writes the same
//! file again.

use crate::Engine;
use crate::bucket::bucket_output::{FILES, output_key, write_manifests};
use crate::bucket::{Bucket, failure, internal_failure};
use crate::exchange::data_files;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::export::export_selection::ExportSelection;
use crate::history::past::{NetChange, Past};
use crate::history::{History, Moment};
use crate::key::item_key::key_item;
use crate::key::stored_key::ExchangeKind;
use crate::maintenance::Progress;
use crate::offload::blocking_task::{StepError, run_with_bucket};
use crate::read::work_budget::yield_now;
use crate::verify::hex;
use partita_api::exchange::{ExchangeFailure, ExchangeStatus};
use partita_api::export::{Export, ExportScope, ExportView, ExportWindow};
use partita_api::key_schema::KeySchema;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::ChangeLine;
use partita_exchange::compression::Compression;
use partita_exchange::item_writer;
use partita_exchange::manifest::{self, DataFile};
use partita_store::{Damage, Snapshot, Space, Store, StoreError};
use partita_value::ordered_key::TokenKey;
use partita_value::{Item, ItemRef, ValueRef, ordered_key};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The approximate size of a data file before compression.
const PART_BYTES: usize = 8 << 20;
/// The maximum number of keys that a step examines.
const PART_KEYS: usize = 100_000;
/// A part is read in slices of this many bytes or keys; in between the thread yields.
const SLICE_BYTES: usize = 512 << 10;
const SLICE_KEYS: usize = 2_048;
/// Unreadable key ranges are listed up to this number.
const MAX_LOST: usize = 10_000;

/// The stored record of an export. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportRecord {
    pub export: Export,
    pub table: String,
    /// The history in which its moments are pinned.
    pub history: u32,
    /// Changes after the first moment and up to the second are exported; a full export has the same moment twice.
    pub moments: [Moment; 2],
    pub key: KeySchema,
    /// The hash key of the table's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_key: Option<[u64; 2]>,
    /// The last exported key, without its space.
    pub cursor: Option<Vec<u8>>,
    /// Data files written by early versions, which stored them here.
    #[serde(default)]
    pub files: Vec<DataFile>,
    /// How many data files were written.
    #[serde(default)]
    pub written: u64,
    /// Key ranges that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostKeys>,
}

/// A range of stored keys whose items could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostKeys {
    from: String,
    to: String,
    reason: String,
}

impl From<Damage> for LostKeys {
    fn from(damage: Damage) -> LostKeys {
        let (from, to) = damage.keys.map(|keys| (hex(&keys.start), hex(&keys.end))).unwrap_or_default();
        LostKeys { from, to, reason: damage.reason }
    }
}

/// The part of a record that changes with every step.
#[derive(Serialize, Deserialize)]
pub struct ExportProgress {
    cursor: Option<Vec<u8>>,
    written: u64,
    items: u64,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lost: Vec<LostKeys>,
}

impl ExchangeRecord for ExportRecord {
    const KIND: ExchangeKind = ExchangeKind::Export;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ExportNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::ExportConflictException;
    type Progress = ExportProgress;

    fn arn(&self) -> &str {
        &self.export.arn
    }

    fn table_arn(&self) -> &str {
        &self.export.table_arn
    }

    fn bucket(&self) -> Option<&str> {
        Some(&self.export.target.bucket)
    }

    fn is_open(&self) -> bool {
        self.export.status == ExchangeStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.export.ended_millis
    }

    fn progress(&self) -> Option<ExportProgress> {
        let Export { items, bytes, .. } = self.export;
        let lost = self.lost.clone();
        Some(ExportProgress { cursor: self.cursor.clone(), written: self.written, items, bytes, lost })
    }

    fn resume(&mut self, progress: ExportProgress) {
        (self.cursor, self.written, self.lost) = (progress.cursor, progress.written, progress.lost);
        (self.export.items, self.export.bytes) = (progress.items, progress.bytes);
    }
}

/// The content of one data file.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    items: u64,
    bytes: u64,
    /// How many keys were examined.
    keys: usize,
    last_key: Option<Vec<u8>>,
    is_last: bool,
    lost: Vec<Damage>,
    /// The limits at which the current slice ends.
    slice_end_bytes: usize,
    slice_end_keys: usize,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn export_step(&self) -> Result<Progress, Exception> {
        let Some((record, _guard)) = self.due_exchange::<ExportRecord>(&self.open_exports)? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.try_export(record).await;
        Ok(self.backoffs.record(&id, step))
    }

    async fn try_export(&self, mut record: ExportRecord) -> Result<Progress, Exception> {
        record.written = record.written.max(record.files.len() as u64);
        match self.advance_export(&mut record).await {
            Ok(Some(file)) if record.is_open() => {
                let file = data_files::store(record.id(), record.written - 1, &file);
                self.store_rows(vec![record.store_progress(), file]).await?;
            }
            Ok(_) if record.is_open() => self.store_rows(vec![record.store_progress()]).await?,
            Ok(_) => self.end_export(record).await?,
            Err(StepError::Exception(exception)) => return Err(exception),
            Err(StepError::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
            Err(StepError::Failure(failure)) => {
                record.export.status = ExchangeStatus::Failed;
                record.export.ended_millis = Some(self.clock.now_millis());
                record.export.failure = Some(failure);
                self.end_export(record).await?;
            }
        }
        Ok(Progress::More)
    }

    /// Stores the final state, unpins the exported moments, and deletes the rows of data files, which the manifest lists now.
    async fn end_export(&self, record: ExportRecord) -> Result<(), Exception> {
        let mut writes = record.store_end();
        writes.extend(data_files::delete(record.id(), record.written));
        self.unpin(Space(record.history), record.id(), writes).await
    }

    /// Writes the next data file, if there is one, and at the end the manifests.
    async fn advance_export(&self, record: &mut ExportRecord) -> Result<Option<DataFile>, StepError> {
        if record.cursor.is_none() {
            self.write_start_marker(record).await?;
        }
        let part = self.read_part(record).await?;
        let is_last = part.is_last;
        let file = self.write_part(record, part).await?;
        if is_last {
            self.finish_export(record, file.clone()).await?;
        }
        Ok(file)
    }

    /// Reads a part in slices, each from a new snapshot.
    async fn read_part(&self, record: &ExportRecord) -> Result<Part, StepError> {
        let history = self.catalog.history(Space(record.history)).ok_or_else(internal_failure)?;
        let mut part = Part { last_key: record.cursor.clone(), ..Part::default() };
        let selection = record.selection(&history).map_err(refused)?;
        loop {
            part.begin_slice();
            let read = self.store.snapshot().map_err(unreadable).and_then(|snapshot| {
                read_slice(&snapshot, &history, (record, &selection), &mut part).map_err(refused)
            });
            read?;
            if part.is_last || part.is_full() {
                return Ok(part);
            }
            yield_now().await;
        }
    }

    /// Writes the object that marks a started export.
    async fn write_start_marker(&self, record: &ExportRecord) -> Result<(), StepError> {
        let (buckets, name) = (self.buckets.get().cloned(), record.export.target.bucket.clone());
        let key = record.key("_started");
        run_with_bucket(move || Bucket::open(buckets.as_ref(), &name)?.write(&key, b"")).await
    }

    /// Compresses lines, writes them as a data file, and returns its bytes.
    async fn write_gzip(
        &self,
        record: &ExportRecord,
        key: String,
        lines: Vec<u8>,
    ) -> Result<Vec<u8>, StepError> {
        let (buckets, name) = (self.buckets.get().cloned(), record.export.target.bucket.clone());
        run_with_bucket(move || {
            let bytes = Compression::Gzip.compress(lines);
            Bucket::open(buckets.as_ref(), &name)?.write(&key, &bytes)?;
            Ok(bytes)
        })
        .await
    }
}

fn refused(exception: Exception) -> ExchangeFailure {
    failure(exception.kind.name(), &exception.message)
}

fn unreadable(error: StoreError) -> ExchangeFailure {
    tracing::error!(%error, "the store failed during an export");
    internal_failure()
}

/// Reads the next slice of a part.
fn read_slice(
    snapshot: &impl Snapshot,
    history: &History,
    (record, selection): (&ExportRecord, &ExportSelection),
    part: &mut Part,
) -> Result<(), Exception> {
    let past = Past::of(snapshot, history);
    let past = match &selection.rows {
        Some(rows) => past.within(rows.clone()),
        None => past,
    };
    let (after_key, mut failed) = (part.last_key.clone(), Ok(()));
    let mut flow_of = |added: Result<ControlFlow<()>, Exception>| {
        added.unwrap_or_else(|exception| {
            failed = Err(exception);
            ControlFlow::Break(())
        })
    };
    match record.export.scope {
        ExportScope::Full => past.items_at(record.moments[1], after_key.as_deref(), |key, item| {
            flow_of(part.add_item(record, selection, key, item))
        })?,
        ExportScope::Incremental(window) => {
            let [after, until] = record.moments;
            past.changes_between((after, until), after_key.as_deref(), |key, change| {
                flow_of(part.add_change(record, selection, window, key, change))
            })?;
        }
    }
    part.lost.extend(past.lost());
    failed
}

impl Part {
    fn begin_slice(&mut self) {
        self.is_last = true;
        self.slice_end_bytes = PART_BYTES.min(self.lines.len() + SLICE_BYTES);
        self.slice_end_keys = PART_KEYS.min(self.keys + SLICE_KEYS);
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= PART_BYTES || self.keys >= PART_KEYS
    }

    fn add_item(
        &mut self,
        record: &ExportRecord,
        selection: &ExportSelection,
        key: &[u8],
        item: Option<ItemRef<'_>>,
    ) -> Result<ControlFlow<()>, Exception> {
        if !self.accepts(key) {
            return Ok(ControlFlow::Break(()));
        }
        let Some(item) = item else { return Ok(ControlFlow::Continue(())) };
        if selection.matches(item)? {
            selection
                .with_projected(item, |item| item_writer::write(record.export.format, item, &mut self.lines));
            self.items += 1;
            self.bytes += item.size() as u64;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// An item that was created and deleted within the window is not exported.
    fn add_change(
        &mut self,
        record: &ExportRecord,
        selection: &ExportSelection,
        window: ExportWindow,
        key: &[u8],
        change: Option<NetChange>,
    ) -> Result<ControlFlow<()>, Exception> {
        if !self.accepts(key) {
            return Ok(ControlFlow::Break(()));
        }
        let Some(change) = change else { return Ok(ControlFlow::Continue(())) };
        let Some(item) = change.new.as_ref().or(change.old.as_ref()) else {
            return Ok(ControlFlow::Continue(()));
        };
        if selection.matches(item.view())? {
            let keys = key_item(record.key.attributes(), item.view());
            let new = change.new.as_ref().map(|item| selection.projected(item));
            let old = change.old.as_ref().filter(|_| window.view == ExportView::NewAndOldImages);
            let old = old.map(|item| selection.projected(item));
            let line = ChangeLine {
                written_micros: change.written,
                keys: keys.view(),
                new_image: new.as_deref().map(Item::view),
                old_image: old.as_deref().map(Item::view),
            };
            item_writer::write_change(record.export.format, &line, &mut self.lines);
            self.items += 1;
            let images = [&change.new, &change.old].into_iter().flatten();
            self.bytes += images.map(|item| item.size() as u64).sum::<u64>();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Counts a key, unless it belongs to the next slice.
    fn accepts(&mut self, key: &[u8]) -> bool {
        self.is_last = self.lines.len() < self.slice_end_bytes && self.keys < self.slice_end_keys;
        if self.is_last {
            self.keys += 1;
            self.last_key = Some(key.to_vec());
        }
        self.is_last
    }
}

impl ExportRecord {
    fn selection(&self, history: &History) -> Result<ExportSelection, Exception> {
        let token_key = self.token_key.map_or(TokenKey::FIXED, TokenKey::new);
        ExportSelection::new(self.export.filter.as_deref(), (&self.key, token_key), history.items())
    }

    /// The key of one of the export's objects.
    fn key(&self, name: &str) -> String {
        output_key(&self.export.target, self.id(), name)
    }

    /// The data files of all incremental exports share a prefix.
    fn data_key(&self, name: &str) -> String {
        let file = format!("{name}.{}", item_writer::file_extension(self.export.format));
        match self.export.scope {
            ExportScope::Full => self.key(&format!("data/{file}")),
            ExportScope::Incremental(_) => output_key(&self.export.target, "data", &file),
        }
    }

    /// Records what could not be read. A range at the boundary of two slices may be reported twice.
    fn add_lost(&mut self, lost: Vec<Damage>) {
        for keys in lost.into_iter().map(LostKeys::from) {
            if self.lost.len() < MAX_LOST && !self.lost.contains(&keys) {
                tracing::error!(export = self.export.arn, ?keys, "items could not be exported");
                self.lost.push(keys);
            }
        }
    }

    /// The key and content of the object that lists what could not be read, if anything.
    fn damage_report(&self) -> Option<(String, Vec<u8>)> {
        let list = serde_json::json!({ "damaged": self.lost });
        (!self.lost.is_empty()).then(|| (self.key("damaged.json"), list.to_string().into_bytes()))
    }

    /// The name depends on the number only, so that a retry replaces the file.
    fn next_data_key(&self) -> String {
        let number = format!("{} {}", self.id(), self.written);
        let name = ordered_key::token(std::iter::once(ValueRef::S(number.as_bytes())));
        self.data_key(&name.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

impl<S: Store> Engine<S> {
    /// Writes a data file, unless the part is empty. A complete export has at least one.
    async fn write_part(&self, record: &mut ExportRecord, part: Part) -> Result<Option<DataFile>, StepError> {
        record.cursor = part.last_key;
        record.add_lost(part.lost);
        if part.lines.is_empty() && !(part.is_last && record.written == 0) {
            return Ok(None);
        }
        let key = record.next_data_key();
        let (items, bytes) = (part.items, part.bytes);
        let written = self.write_gzip(record, key.clone(), part.lines).await?;
        record.written += 1;
        record.export.items += items;
        record.export.bytes += bytes;
        Ok(Some(DataFile::new(key, &written, items)))
    }

    /// Writes the manifests last: an export with a summary is complete.
    async fn finish_export(
        &self,
        record: &mut ExportRecord,
        last: Option<DataFile>,
    ) -> Result<(), StepError> {
        let mut files = record.files.clone();
        files.extend(self.data_files(record.id())?);
        files.extend(last);
        let (now, done) = (self.clock.now_millis(), record.clone());
        let buckets = self.buckets.get().cloned();
        let summary_key = run_with_bucket(move || {
            let bucket = Bucket::open(buckets.as_ref(), &done.export.target.bucket)?;
            let files_key = done.key(FILES);
            let summary = manifest::export_summary(&done.export, now, &files_key);
            if let Some((key, list)) = done.damage_report() {
                bucket.write(&key, &list)?;
            }
            write_manifests(&bucket, |name| done.key(name), &files, &summary)
        })
        .await?;
        record.export.status = ExchangeStatus::Completed;
        record.export.ended_millis = Some(now);
        record.export.manifest = Some(summary_key);
        record.files.clear();
        Ok(())
    }
}
