//! Exports in the background. What is exported was pinned in the table's history with the request. A step reads a part of what
//! there was, writes it as a data file and stores how far it came; killed in between, it writes the same file again. Exports take
//! turns.

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
use crate::offload::aside::{Hindrance, aside_with_bucket};
use crate::read::slices::let_others;
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

/// A data file has about so many bytes before it is compressed.
const PART_BYTES: usize = 8 << 20;
/// A step looks at so many keys at most.
const PART_KEYS: usize = 100_000;
/// Others have their turn behind so many bytes, or keys, of a part.
const SLICE_BYTES: usize = 512 << 10;
const SLICE_KEYS: usize = 2_048;
/// More that could not be read is not listed.
const MOST_LOST: usize = 10_000;

/// An export as it is stored. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportRecord {
    pub export: Export,
    pub table: String,
    /// The history in which its moments are pinned.
    pub history: u32,
    /// The moment behind which changes are exported, and the one up to which; a full export has the same twice.
    pub moments: [Moment; 2],
    pub key: KeySchema,
    /// What the table's tokens are made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_key: Option<[u64; 2]>,
    /// The last key, without its space, that is in a data file.
    pub cursor: Option<Vec<u8>>,
    /// Those that early versions stored here.
    #[serde(default)]
    pub files: Vec<DataFile>,
    /// How many data files there are.
    #[serde(default)]
    pub written: u64,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostKeys>,
}

/// Stored keys whose items could not be read, and why.
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

/// How far an export has come.
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

/// What becomes one data file.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    items: u64,
    bytes: u64,
    /// How many keys were looked at.
    keys: usize,
    last_key: Option<Vec<u8>>,
    is_last: bool,
    lost: Vec<Damage>,
    /// How many bytes and keys there may be at the end of the slice that is being read.
    most_bytes: usize,
    most_keys: usize,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn export_step(&self) -> Result<Progress, Exception> {
        let Some((record, _turn)) = self.due_exchange::<ExportRecord>(&self.open_exports)? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.try_export(record).await;
        Ok(self.pauses.judge(&id, step))
    }

    async fn try_export(&self, mut record: ExportRecord) -> Result<Progress, Exception> {
        record.written = record.written.max(record.files.len() as u64);
        match self.advance_export(&mut record).await {
            Ok(Some(file)) if record.is_open() => {
                let file = data_files::store(record.id(), record.written - 1, &file);
                self.keep(vec![record.store_progress(), file]).await?;
            }
            Ok(_) if record.is_open() => self.keep(vec![record.store_progress()]).await?,
            Ok(_) => self.end_export(record).await?,
            Err(Hindrance::Exception(exception)) => return Err(exception),
            Err(Hindrance::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
            Err(Hindrance::Failure(failure)) => {
                record.export.status = ExchangeStatus::Failed;
                record.export.ended_millis = Some(self.clock.now_millis());
                record.export.failure = Some(failure);
                self.end_export(record).await?;
            }
        }
        Ok(Progress::More)
    }

    /// What it read is let go, and its data files are in the manifest.
    async fn end_export(&self, record: ExportRecord) -> Result<(), Exception> {
        let mut writes = record.store_end();
        writes.extend(data_files::forget(record.id(), record.written));
        self.unpin(Space(record.history), record.id(), writes).await
    }

    /// Writes the next data file, if there is one, and at the end the manifests.
    async fn advance_export(&self, record: &mut ExportRecord) -> Result<Option<DataFile>, Hindrance> {
        if record.cursor.is_none() {
            self.write_start(record).await?;
        }
        let part = self.read_part(record).await?;
        let is_last = part.is_last;
        let file = self.write_part(record, part).await?;
        if is_last {
            self.finish_export(record, file.clone()).await?;
        }
        Ok(file)
    }

    /// A part is read bit by bit, each out of a snapshot of its own.
    async fn read_part(&self, record: &ExportRecord) -> Result<Part, Hindrance> {
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
            let_others().await;
        }
    }

    /// Writes an object that says that there is an export.
    async fn write_start(&self, record: &ExportRecord) -> Result<(), Hindrance> {
        let (buckets, name) = (self.buckets.get().cloned(), record.export.target.bucket.clone());
        let key = record.key("_started");
        aside_with_bucket(move || Bucket::open(buckets.as_ref(), &name)?.write(&key, b"")).await
    }

    /// Writes lines as a data file, and returns its bytes.
    async fn write_gzip(
        &self,
        record: &ExportRecord,
        key: String,
        lines: Vec<u8>,
    ) -> Result<Vec<u8>, Hindrance> {
        let (buckets, name) = (self.buckets.get().cloned(), record.export.target.bucket.clone());
        aside_with_bucket(move || {
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

/// The next slice of a part of what is exported.
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
    let (behind, mut failed) = (part.last_key.clone(), Ok(()));
    let mut go_on = |added: Result<ControlFlow<()>, Exception>| {
        added.unwrap_or_else(|exception| {
            failed = Err(exception);
            ControlFlow::Break(())
        })
    };
    match record.export.scope {
        ExportScope::Full => past.items_at(record.moments[1], behind.as_deref(), |key, item| {
            go_on(part.add_item(record, selection, key, item))
        })?,
        ExportScope::Incremental(window) => {
            let [after, until] = record.moments;
            past.changes_between((after, until), behind.as_deref(), |key, change| {
                go_on(part.add_change(record, selection, window, key, change))
            })?;
        }
    }
    part.lost.extend(past.lost());
    failed
}

impl Part {
    fn begin_slice(&mut self) {
        self.is_last = true;
        self.most_bytes = PART_BYTES.min(self.lines.len() + SLICE_BYTES);
        self.most_keys = PART_KEYS.min(self.keys + SLICE_KEYS);
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
        if !self.has_room_for(key) {
            return Ok(ControlFlow::Break(()));
        }
        let Some(item) = item else { return Ok(ControlFlow::Continue(())) };
        if selection.takes(item)? {
            selection.show(item, |shown| item_writer::write(record.export.format, shown, &mut self.lines));
            self.items += 1;
            self.bytes += item.size() as u64;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// An item that came and went between the ends is not told of.
    fn add_change(
        &mut self,
        record: &ExportRecord,
        selection: &ExportSelection,
        window: ExportWindow,
        key: &[u8],
        change: Option<NetChange>,
    ) -> Result<ControlFlow<()>, Exception> {
        if !self.has_room_for(key) {
            return Ok(ControlFlow::Break(()));
        }
        let Some(change) = change else { return Ok(ControlFlow::Continue(())) };
        let Some(item) = change.new.as_ref().or(change.old.as_ref()) else {
            return Ok(ControlFlow::Continue(()));
        };
        if selection.takes(item.view())? {
            let keys = key_item(record.key.attributes(), item.view());
            let new = change.new.as_ref().map(|item| selection.shown(item));
            let old = change.old.as_ref().filter(|_| window.view == ExportView::NewAndOldImages);
            let old = old.map(|item| selection.shown(item));
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

    /// Notes that a key is looked at, unless that belongs into another slice.
    fn has_room_for(&mut self, key: &[u8]) -> bool {
        self.is_last = self.lines.len() < self.most_bytes && self.keys < self.most_keys;
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

    /// The data of incremental exports lie together.
    fn data_key(&self, name: &str) -> String {
        let file = format!("{name}.{}", item_writer::file_extension(self.export.format));
        match self.export.scope {
            ExportScope::Full => self.key(&format!("data/{file}")),
            ExportScope::Incremental(_) => output_key(&self.export.target, "data", &file),
        }
    }

    /// Notes what could not be read; where two slices meet it may be met twice.
    fn note_lost(&mut self, lost: Vec<Damage>) {
        for keys in lost.into_iter().map(LostKeys::from) {
            if self.lost.len() < MOST_LOST && !self.lost.contains(&keys) {
                tracing::error!(export = self.export.arn, ?keys, "items could not be exported");
                self.lost.push(keys);
            }
        }
    }

    /// The list of what could not be read, if there is anything in it.
    fn lost_list(&self) -> Option<(String, Vec<u8>)> {
        let list = serde_json::json!({ "damaged": self.lost });
        (!self.lost.is_empty()).then(|| (self.key("damaged.json"), list.to_string().into_bytes()))
    }

    /// Its name depends on its number only, so that a repetition replaces it.
    fn next_data_key(&self) -> String {
        let number = format!("{} {}", self.id(), self.written);
        let name = ordered_key::token(std::iter::once(ValueRef::S(number.as_bytes())));
        self.data_key(&name.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

impl<S: Store> Engine<S> {
    /// Writes a data file, unless nothing was found yet.
    async fn write_part(&self, record: &mut ExportRecord, part: Part) -> Result<Option<DataFile>, Hindrance> {
        record.cursor = part.last_key;
        record.note_lost(part.lost);
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

    /// The manifests come last: where there is a summary, the export is whole.
    async fn finish_export(
        &self,
        record: &mut ExportRecord,
        last: Option<DataFile>,
    ) -> Result<(), Hindrance> {
        let mut files = record.files.clone();
        files.extend(self.data_files(record.id())?);
        files.extend(last);
        let (now, done) = (self.clock.now_millis(), record.clone());
        let buckets = self.buckets.get().cloned();
        let summary_key = aside_with_bucket(move || {
            let bucket = Bucket::open(buckets.as_ref(), &done.export.target.bucket)?;
            let files_key = done.key(FILES);
            let summary = manifest::export_summary(&done.export, now, &files_key);
            if let Some((key, list)) = done.lost_list() {
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
