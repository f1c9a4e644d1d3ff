//! Imports in the background. A step reads a page of records and puts the items; how far it came commits with them. When the
//! last object is done, the table is there. Imports take turns.

use crate::Engine;
use crate::bucket::failure;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::{Table, TableRecord};
use crate::exchange::complaints::{self, complain};
use crate::exchange::exchange_record::{ExchangeRecord, store_progress};
use crate::exchange::object_source::{Page, Place, Reading, Source};
use crate::item::batch_write_item::plan;
use crate::key::stored_key::ExchangeKind;
use crate::maintenance::Progress;
use crate::offload::aside::{Hindrance, aside_with_bucket};
use crate::write::{ItemWrite, Outcome};
use partita_api::exchange::{ExchangeFailure, ExchangeStatus, InputFormat};
use partita_api::import::Import;
use partita_api::item::batch_write_item::BatchWrite;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::item_reader;
use partita_store::Store;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// An import as it is stored. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportRecord {
    pub import: Import,
    pub table: String,
    /// None before the objects were listed.
    #[serde(default)]
    place: Option<Place>,
    /// Nothing is left to be read.
    #[serde(default)]
    is_done: bool,
    /// What early versions stored instead of the place: all objects, which of them is being read, how many of its records are done.
    #[serde(default, skip_serializing)]
    objects: Option<Vec<String>>,
    #[serde(default, skip_serializing)]
    object: usize,
    #[serde(default, skip_serializing)]
    records: u64,
}

/// How far an import has come.
#[derive(Serialize, Deserialize)]
pub struct ImportProgress {
    place: Option<Place>,
    is_done: bool,
    processed_items: u64,
    processed_bytes: u64,
    imported_items: u64,
    errors: u64,
}

impl ExchangeRecord for ImportRecord {
    const KIND: ExchangeKind = ExchangeKind::Import;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ImportNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::ImportConflictException;
    type Progress = ImportProgress;

    fn arn(&self) -> &str {
        &self.import.arn
    }

    fn table_arn(&self) -> &str {
        &self.import.table_arn
    }

    fn bucket(&self) -> Option<&str> {
        Some(&self.import.source.bucket)
    }

    fn is_open(&self) -> bool {
        self.import.status == ExchangeStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.import.ended_millis
    }

    fn progress(&self) -> Option<ImportProgress> {
        Some(self.so_far())
    }

    fn resume(&mut self, progress: ImportProgress) {
        let import = &mut self.import;
        import.processed_items = progress.processed_items;
        import.processed_bytes = progress.processed_bytes;
        import.imported_items = progress.imported_items;
        import.errors = progress.errors;
        (self.place, self.is_done) = (progress.place, progress.is_done);
    }
}

/// What is known about a page before its items are put.
struct Planned {
    id: String,
    /// How far the import had come before the page.
    before: ImportProgress,
    records: u64,
    bytes: u64,
    /// Records whose items may be put. Of items with the same key one stays; the others are no errors.
    imported: u64,
    errors: u64,
    place: Option<Place>,
}

impl Planned {
    /// How far the import has come once the page has these outcomes.
    fn progress_after(&self, outcomes: &[Result<Outcome, Exception>]) -> ImportProgress {
        let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64;
        let before = &self.before;
        let (place, is_done) = gone_to(before.place.clone(), self.place.clone());
        ImportProgress {
            place,
            is_done,
            processed_items: before.processed_items + self.records,
            processed_bytes: before.processed_bytes + self.bytes,
            imported_items: before.imported_items + self.imported.saturating_sub(refused),
            errors: before.errors + self.errors + refused,
        }
    }
}

/// Where an import stands, and whether it is done, once it has gone on: if there is no place to go to, nothing is left to be read.
fn gone_to(before: Option<Place>, place: Option<Place>) -> (Option<Place>, bool) {
    let is_done = place.is_none();
    (place.or(before), is_done)
}

impl<S: Store> Engine<S> {
    pub(crate) async fn import_step(&self) -> Result<Progress, Exception> {
        let Some((record, _turn)) = self.due_exchange::<ImportRecord>(&self.open_imports)? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.advance_import(record.with_place()).await;
        Ok(self.pauses.judge(&id, step))
    }

    async fn advance_import(&self, mut record: ImportRecord) -> Result<Progress, Exception> {
        match self.read_import(&record).await {
            Ok(Reading::Page { page, next }) => match self.table_of(&record) {
                Ok(table) => record = self.put_page(record, &table, page, next).await?,
                Err(failure) => record.end(ExchangeStatus::Failed, Some(failure), self.clock.now_millis()),
            },
            Ok(Reading::Listed { first, .. }) => {
                record.go_to(first.map(|object| Place { object, records: 0 }));
                self.keep(vec![record.store_progress()]).await?;
            }
            Err(Hindrance::Exception(exception)) => return Err(exception),
            Err(Hindrance::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
            Err(Hindrance::Failure(failure)) => {
                record.end(ExchangeStatus::Failed, Some(failure), self.clock.now_millis());
            }
        }
        record.end_if_done(self.clock.now_millis());
        if !record.is_open() {
            self.workplaces.forget(record.id());
            complaints::sum_up(record.arn(), record.import.errors);
            self.finish_import(record).await?;
        }
        Ok(Progress::More)
    }

    async fn read_import(&self, record: &ImportRecord) -> Result<Reading, Hindrance> {
        if record.is_done {
            let (page, next) = (Page { ended: true, ..Page::default() }, None);
            return Ok(Reading::Page { page, next });
        }
        let table = self.table_of(record)?;
        let source = Source {
            buckets: self.buckets.get().cloned(),
            bucket: record.import.source.bucket.clone(),
            prefix: record.import.source.prefix.clone().unwrap_or_default(),
            output: None,
            compression: record.import.compression,
            format: record.input_format(&table),
        };
        let (mut open, place) = (self.workplaces.take_source(record.id()), record.place.clone());
        let work = move || open.read(&source, place.as_ref()).map(|reading| (open, reading));
        let (open, reading) = aside_with_bucket(work).await?;
        self.workplaces.put_source_back(record.id(), open);
        Ok(reading)
    }

    fn table_of(&self, record: &ImportRecord) -> Result<Arc<Table>, ExchangeFailure> {
        let table = self.catalog.find(&record.table);
        let table = table.filter(|table| table.record.id == record.import.table_id);
        table.ok_or_else(|| failure("TableNotFound", "The table was deleted during the import"))
    }

    async fn put_page(
        &self,
        mut record: ImportRecord,
        table: &Arc<Table>,
        page: Page,
        next: Option<String>,
    ) -> Result<ImportRecord, Exception> {
        let (planned, writes) = record.planned(table, page, next);
        let planned = Arc::new(planned);
        let noted = Arc::clone(&planned);
        let note = move |outcomes: &[Result<Outcome, Exception>]| {
            vec![store_progress(&noted.id, &noted.progress_after(outcomes))]
        };
        let outcomes = self.write_each_noting(writes, note).await?;
        record.resume(planned.progress_after(&outcomes));
        Ok(record)
    }

    /// The record's last version and the table's readiness are stored together. Of an import whose source is not there,
    /// no table stays.
    async fn finish_import(&self, record: ImportRecord) -> Result<(), Exception> {
        let name = TableName::new(&record.table);
        if record.place.is_none() && !record.is_done {
            self.unmake_table(name, record.import.table_id.clone()).await?;
            return self.keep(record.store_end()).await;
        }
        let (id, last) = (record.import.table_id.clone(), record.store_end());
        let change = move |table: &mut TableRecord, _: &mut _| {
            table.importing &= table.id != id;
            Ok(SideWrites::of(last.clone()))
        };
        match self.change_table(&name, change).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => {
                self.keep(record.store_end()).await
            }
            outcome => outcome.map(|_| ()),
        }
    }

    /// Deletes the table that an import has made. Killed thereafter, the import fails again, and finds none.
    async fn unmake_table(&self, name: TableName, id: String) -> Result<(), Exception> {
        let is_it = move |record: &TableRecord| match record.id == id {
            true => Ok(()),
            false => Err(Exception::resource_not_found("")),
        };
        match self.remove_table(name, is_it).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

impl ImportRecord {
    pub fn new(import: Import, table: String) -> ImportRecord {
        let (place, is_done, objects, object, records) = (None, false, None, 0, 0);
        ImportRecord { import, table, place, is_done, objects, object, records }
    }

    /// With the place of what an early version has begun.
    fn with_place(mut self) -> ImportRecord {
        if let (None, Some(objects)) = (&self.place, self.objects.take()) {
            let object = objects.into_iter().nth(self.object);
            let records = self.records;
            self.go_to(object.map(|object| Place { object, records }));
        }
        self
    }

    fn go_to(&mut self, place: Option<Place>) {
        (self.place, self.is_done) = gone_to(self.place.take(), place);
    }

    fn so_far(&self) -> ImportProgress {
        let Import { processed_items, processed_bytes, imported_items, errors, .. } = self.import;
        let (place, is_done) = (self.place.clone(), self.is_done);
        ImportProgress { place, is_done, processed_items, processed_bytes, imported_items, errors }
    }

    /// What is to be put of a page.
    fn planned(&self, table: &Arc<Table>, page: Page, next: Option<String>) -> (Planned, Vec<ItemWrite>) {
        let Place { object, records: done } = self.place.clone().unwrap_or_default();
        let mut errors = 0;
        let mut complain = |record: Option<u64>, reason: &str| {
            let place = complaints::Place { operation: self.arn(), object: &object, record };
            complain(self.import.errors + errors, place, reason);
            errors += 1;
        };
        let (mut imported, mut writes) = (0, HashMap::new());
        let records = page.records.len() as u64;
        for (number, record) in (done + 1..).zip(page.records) {
            let write = record.map_err(|bad| bad.reason).and_then(|put| {
                plan(table, BatchWrite::Put(put.item)).map_err(|exception| exception.message)
            });
            match write {
                Ok(write) => {
                    imported += 1;
                    writes.insert(write.key.stored.clone(), write);
                }
                Err(reason) => complain(Some(number), &reason),
            }
        }
        if let Some(reason) = &page.broken {
            complain(None, reason);
        }
        let place = match page.ended {
            true => next.map(|object| Place { object, records: 0 }),
            false => Some(Place { object, records: done + records }),
        };
        let (id, before) = (self.id().to_owned(), self.so_far());
        let planned = Planned { id, before, records, bytes: page.bytes, imported, errors, place };
        (planned, writes.into_values().collect())
    }

    fn input_format(&self, table: &Table) -> item_reader::InputFormat {
        match self.import.format {
            InputFormat::DynamoDbJson => item_reader::InputFormat::DynamoDbJson,
            InputFormat::Ion => item_reader::InputFormat::Ion,
            InputFormat::Csv => {
                let options = self.import.csv.clone().unwrap_or_default();
                let definitions = table.record.attribute_definitions.iter();
                item_reader::InputFormat::Csv {
                    delimiter: options.delimiter.and_then(|c| u8::try_from(c).ok()).unwrap_or(b','),
                    header: options.header,
                    keys: definitions.map(|key| (key.name.clone(), key.kind)).collect(),
                }
            }
        }
    }

    fn end_if_done(&mut self, now: u64) {
        if !self.is_open() || !self.is_done {
            return;
        }
        if self.import.errors == 0 {
            return self.end(ExchangeStatus::Completed, None, now);
        }
        let invalid = failure(
            "ItemValidationError",
            "Some of the items failed validation checks. Please check CloudWatch error logs for more details.",
        );
        self.end(ExchangeStatus::Failed, Some(invalid), now);
    }

    fn end(&mut self, status: ExchangeStatus, failure: Option<ExchangeFailure>, now: u64) {
        self.import.status = status;
        self.import.failure = failure;
        self.import.ended_millis = Some(now);
    }
}
