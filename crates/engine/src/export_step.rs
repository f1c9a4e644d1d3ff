//! Exports in the background. What is exported was pinned in the table's history with the request. A step reads a part of what
//! there was, writes it as a data file and stores how far it came; killed in between, it writes the same file again.

use crate::Engine;
use crate::bucket::{Bucket, failure};
use crate::bucket_output::{FILES, output_key, write_manifests};
use crate::exchange_record::ExchangeRecord;
use crate::export_selection::ExportSelection;
use crate::history::{History, Moment};
use crate::item_key::key_item;
use crate::maintenance::Progress;
use crate::past::{NetChange, Past};
use crate::stored_key::ExchangeKind;
use partita_api::exchange::{ExchangeFailure, ExchangeStatus};
use partita_api::export::{Export, ExportScope, ExportView, ExportWindow};
use partita_api::key_schema::KeySchema;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::ChangeLine;
use partita_exchange::compression::Compression;
use partita_exchange::item_writer;
use partita_exchange::manifest::{self, DataFile};
use partita_store::{Snapshot, Space, Store, StoreError};
use partita_value::ordered_key::TokenKey;
use partita_value::{Item, ItemRef, ValueRef, ordered_key};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A data file has about so many bytes before it is compressed.
const PART_BYTES: usize = 8 << 20;
/// A step looks at so many keys at most.
const PART_KEYS: usize = 100_000;

/// An export as it is stored.
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
    /// How many keys were looked at.
    keys: usize,
    last_key: Option<Vec<u8>>,
    is_last: bool,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn export_step(&self) -> Result<Progress, Exception> {
        let Some(mut record) = self.open_exchange::<ExportRecord>(&self.open_exports)? else {
            return Ok(Progress::Done);
        };
        self.open_exports.put_last(record.id());
        if let Err(failure) = self.advance_export(&mut record) {
            if self.has_stopped_exchanges() {
                return Ok(Progress::Done);
            }
            record.export.status = ExchangeStatus::Failed;
            record.export.ended_millis = Some(self.clock.now_millis());
            record.export.failure = Some(failure);
        }
        match record.is_open() {
            true => self.keep(record).await?,
            false => self.unpin(Space(record.history), record.id(), vec![record.store()]).await?,
        }
        Ok(Progress::More)
    }

    fn advance_export(&self, record: &mut ExportRecord) -> Result<(), ExchangeFailure> {
        let bucket = Bucket::open(self.buckets.get(), &record.export.target.bucket)?;
        if record.cursor.is_none() {
            bucket.write(&record.key("_started"), b"")?;
        }
        let history = self.catalog.history(Space(record.history)).ok_or_else(internal_failure)?;
        let part = {
            let snapshot = self.store.snapshot().map_err(unreadable)?;
            let read = read_part(&snapshot, &history, record);
            read.map_err(|exception| failure(exception.kind.name(), &exception.message))?
        };
        let is_last = part.is_last;
        record.write(&bucket, part)?;
        if is_last { record.finish(&bucket, self.clock.now_millis()) } else { Ok(()) }
    }
}

fn unreadable(error: StoreError) -> ExchangeFailure {
    tracing::error!(%error, "the store failed during an export");
    internal_failure()
}

fn internal_failure() -> ExchangeFailure {
    failure("InternalServerError", "Internal server error")
}

/// The next part of what is exported.
fn read_part(snapshot: &impl Snapshot, history: &History, record: &ExportRecord) -> Result<Part, Exception> {
    let token_key = record.token_key.map_or(TokenKey::FIXED, TokenKey::new);
    let filter = record.export.filter.as_deref();
    let selection = ExportSelection::new(filter, (&record.key, token_key), history.items())?;
    let past = Past::of(snapshot, history);
    let past = match &selection.rows {
        Some(rows) => past.within(rows.clone()),
        None => past,
    };
    let mut part = Part { is_last: true, ..Part::default() };
    let (behind, mut failed) = (record.cursor.as_deref(), Ok(()));
    let mut go_on = |added: Result<ControlFlow<()>, Exception>| {
        added.unwrap_or_else(|exception| {
            failed = Err(exception);
            ControlFlow::Break(())
        })
    };
    match record.export.scope {
        ExportScope::Full => past.items_at(record.moments[1], behind, |key, item| {
            go_on(part.add_item(record, &selection, key, item))
        })?,
        ExportScope::Incremental(window) => {
            let [after, until] = record.moments;
            past.changes_between((after, until), behind, |key, change| {
                go_on(part.add_change(record, &selection, window, key, change))
            })?;
        }
    }
    failed.map(|()| part)
}

impl Part {
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

    /// Notes that a key is looked at, unless that belongs into another part.
    fn has_room_for(&mut self, key: &[u8]) -> bool {
        self.is_last = self.lines.len() < PART_BYTES && self.keys < PART_KEYS;
        if self.is_last {
            self.keys += 1;
            self.last_key = Some(key.to_vec());
        }
        self.is_last
    }
}

impl ExportRecord {
    /// The key of one of the export's objects.
    fn key(&self, name: &str) -> String {
        output_key(&self.export.target, self.id(), name)
    }

    /// The data of incremental exports lie together.
    fn data_key(&self, name: &str) -> String {
        let file = format!("{name}.{}", item_writer::ending(self.export.format));
        match self.export.scope {
            ExportScope::Full => self.key(&format!("data/{file}")),
            ExportScope::Incremental(_) => output_key(&self.export.target, "data", &file),
        }
    }

    /// Writes a data file, unless nothing was found yet. Its name depends on its number only, so that a repetition replaces it.
    fn write(&mut self, bucket: &Bucket, part: Part) -> Result<(), ExchangeFailure> {
        self.cursor = part.last_key.or_else(|| self.cursor.take());
        if part.lines.is_empty() && !(part.is_last && self.files.is_empty()) {
            return Ok(());
        }
        let number = format!("{} {}", self.id(), self.files.len());
        let name = ordered_key::token(std::iter::once(ValueRef::S(number.as_bytes())));
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = self.data_key(&name);
        let bytes = Compression::Gzip.piece(part.lines);
        bucket.write(&key, &bytes)?;
        self.files.push(DataFile::new(key, &bytes, part.items));
        self.export.items += part.items;
        self.export.bytes += part.bytes;
        Ok(())
    }

    /// The manifests come last: where there is a summary, the export is whole.
    fn finish(&mut self, bucket: &Bucket, now: u64) -> Result<(), ExchangeFailure> {
        let files_key = self.key(FILES);
        let summary = manifest::export_summary(&self.export, now, &files_key);
        let summary_key = write_manifests(bucket, |name| self.key(name), &self.files, &summary)?;
        self.export.status = ExchangeStatus::Completed;
        self.export.ended_millis = Some(now);
        self.export.manifest = Some(summary_key);
        Ok(())
    }
}
