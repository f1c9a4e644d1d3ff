//! Advances imports in the background, in turn. A step reads a batch of records and puts the items; its progress
//! commits with them. The table becomes active after the last object.

use crate::Engine;
use crate::bucket::failure;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::{Table, TableRecord};
use crate::exchange::exchange_record::{ExchangeRecord, store_progress};
use crate::exchange::object_source::{Reading, RecordBatch, Source, SourcePosition};
use crate::exchange::record_errors::{RecordLocation, log_error_total, log_record_error};
use crate::item::planned_write::plan_batched;
use crate::key::stored_key::ExchangeKind;
use crate::maintenance::Progress;
use crate::offload::blocking_task::{StepError, run_with_bucket};
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

/// The stored record of an import. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportRecord {
    pub import: Import,
    pub table: String,
    /// `None` before the objects are listed.
    #[serde(default, rename = "place")]
    position: Option<SourcePosition>,
    /// All objects have been read.
    #[serde(default)]
    is_done: bool,
    /// What early versions stored instead of the position: all objects, the index of the current one, and its processed records.
    #[serde(default, skip_serializing)]
    objects: Option<Vec<String>>,
    #[serde(default, skip_serializing)]
    object: usize,
    #[serde(default, skip_serializing)]
    records: u64,
}

/// The part of a record that changes with every step.
#[derive(Serialize, Deserialize)]
pub struct ImportProgress {
    #[serde(rename = "place")]
    position: Option<SourcePosition>,
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
        Some(self.current_progress())
    }

    fn resume(&mut self, progress: ImportProgress) {
        let import = &mut self.import;
        import.processed_items = progress.processed_items;
        import.processed_bytes = progress.processed_bytes;
        import.imported_items = progress.imported_items;
        import.errors = progress.errors;
        (self.position, self.is_done) = (progress.position, progress.is_done);
    }
}

/// What is known about a batch before its items are put.
struct PlannedBatch {
    id: String,
    /// The progress before the batch.
    before: ImportProgress,
    records: u64,
    bytes: u64,
    /// Valid records. Of items with the same key the last is put; the others are not errors.
    imported: u64,
    errors: u64,
    /// The position after the batch.
    position: Option<SourcePosition>,
}

impl PlannedBatch {
    /// Returns the progress after the batch with these outcomes.
    fn progress_after(&self, outcomes: &[Result<Outcome, Exception>]) -> ImportProgress {
        let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64;
        let before = &self.before;
        let (position, is_done) = advanced_to(before.position.clone(), self.position.clone());
        ImportProgress {
            position,
            is_done,
            processed_items: before.processed_items + self.records,
            processed_bytes: before.processed_bytes + self.bytes,
            imported_items: before.imported_items + self.imported.saturating_sub(refused),
            errors: before.errors + self.errors + refused,
        }
    }
}

/// Returns the position of an import after it advanced, and whether it is done: without a next position, everything is read.
fn advanced_to(
    before: Option<SourcePosition>,
    next: Option<SourcePosition>,
) -> (Option<SourcePosition>, bool) {
    let is_done = next.is_none();
    (next.or(before), is_done)
}

impl<S: Store> Engine<S> {
    pub(crate) async fn import_step(&self) -> Result<Progress, Exception> {
        let Some((record, _guard)) = self.due_exchange::<ImportRecord>(&self.open_imports)? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.advance_import(record.with_position()).await;
        Ok(self.backoffs.record(&id, step))
    }

    async fn advance_import(&self, mut record: ImportRecord) -> Result<Progress, Exception> {
        match self.read_import(&record).await {
            Ok(Reading::Batch { batch, next }) => match self.table_of(&record) {
                Ok(table) => record = self.put_batch(record, &table, batch, next).await?,
                Err(failure) => record.end(ExchangeStatus::Failed, Some(failure), self.clock.now_millis()),
            },
            Ok(Reading::Listed { first, .. }) => {
                record.advance_to(first.map(|object| SourcePosition { object, records: 0 }));
                self.store_rows(vec![record.store_progress()]).await?;
            }
            Err(StepError::Exception(exception)) => return Err(exception),
            Err(StepError::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
            Err(StepError::Failure(failure)) => {
                record.end(ExchangeStatus::Failed, Some(failure), self.clock.now_millis());
            }
        }
        record.end_if_done(self.clock.now_millis());
        if !record.is_open() {
            self.step_state.remove(record.id());
            log_error_total(record.arn(), record.import.errors);
            self.finish_import(record).await?;
        }
        Ok(Progress::More)
    }

    async fn read_import(&self, record: &ImportRecord) -> Result<Reading, StepError> {
        if record.is_done {
            let (batch, next) = (RecordBatch { ended: true, ..RecordBatch::default() }, None);
            return Ok(Reading::Batch { batch, next });
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
        let (mut open, position) = (self.step_state.take_source(record.id()), record.position.clone());
        let work = move || open.read(&source, position.as_ref()).map(|reading| (open, reading));
        let (open, reading) = run_with_bucket(work).await?;
        self.step_state.return_source(record.id(), open);
        Ok(reading)
    }

    fn table_of(&self, record: &ImportRecord) -> Result<Arc<Table>, ExchangeFailure> {
        let table = self.catalog.find(&record.table);
        let table = table.filter(|table| table.record.id == record.import.table_id);
        table.ok_or_else(|| failure("TableNotFound", "The table was deleted during the import"))
    }

    async fn put_batch(
        &self,
        mut record: ImportRecord,
        table: &Arc<Table>,
        batch: RecordBatch,
        next: Option<String>,
    ) -> Result<ImportRecord, Exception> {
        let (planned, writes) = record.plan_batch(table, batch, next);
        let planned = Arc::new(planned);
        let shared = Arc::clone(&planned);
        let progress_writes = move |outcomes: &[Result<Outcome, Exception>]| {
            vec![store_progress(&shared.id, &shared.progress_after(outcomes))]
        };
        let outcomes = self.write_each_with(writes, progress_writes).await?;
        record.resume(planned.progress_after(&outcomes));
        Ok(record)
    }

    /// Stores the record's final state and activates the table in one commit. If the source does not exist, the table is deleted.
    async fn finish_import(&self, record: ImportRecord) -> Result<(), Exception> {
        let name = TableName::new(&record.table);
        if record.position.is_none() && !record.is_done {
            self.delete_created_table(name, record.import.table_id.clone()).await?;
            return self.store_rows(record.store_end()).await;
        }
        let (id, last) = (record.import.table_id.clone(), record.store_end());
        let change = move |table: &mut TableRecord, _: &mut _| {
            table.importing &= table.id != id;
            Ok(SideWrites::of(last.clone()))
        };
        match self.change_table(&name, change).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => {
                self.store_rows(record.store_end()).await
            }
            outcome => outcome.map(|_| ()),
        }
    }

    /// Deletes the table that an import has created. If the process is killed before the import ends, the import fails again and
    /// finds no table.
    async fn delete_created_table(&self, name: TableName, id: String) -> Result<(), Exception> {
        let is_own = move |record: &TableRecord| match record.id == id {
            true => Ok(()),
            false => Err(Exception::resource_not_found("")),
        };
        match self.remove_table(name, is_own).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

impl ImportRecord {
    pub fn new(import: Import, table: String) -> ImportRecord {
        let (position, is_done, objects, object, records) = (None, false, None, 0, 0);
        ImportRecord { import, table, position, is_done, objects, object, records }
    }

    /// Converts the position that an early version stored.
    fn with_position(mut self) -> ImportRecord {
        if let (None, Some(objects)) = (&self.position, self.objects.take()) {
            let object = objects.into_iter().nth(self.object);
            let records = self.records;
            self.advance_to(object.map(|object| SourcePosition { object, records }));
        }
        self
    }

    fn advance_to(&mut self, next: Option<SourcePosition>) {
        (self.position, self.is_done) = advanced_to(self.position.take(), next);
    }

    fn current_progress(&self) -> ImportProgress {
        let Import { processed_items, processed_bytes, imported_items, errors, .. } = self.import;
        let (position, is_done) = (self.position.clone(), self.is_done);
        ImportProgress { position, is_done, processed_items, processed_bytes, imported_items, errors }
    }

    /// Validates a batch, and returns the items to put.
    fn plan_batch(
        &self,
        table: &Arc<Table>,
        batch: RecordBatch,
        next: Option<String>,
    ) -> (PlannedBatch, Vec<ItemWrite>) {
        let SourcePosition { object, records: done } = self.position.clone().unwrap_or_default();
        let mut errors = 0;
        let mut count_error = |record: Option<u64>, reason: &str| {
            let location = RecordLocation { operation: self.arn(), object: &object, record };
            log_record_error(self.import.errors + errors, location, reason);
            errors += 1;
        };
        let (mut imported, mut writes) = (0, HashMap::new());
        let records = batch.records.len() as u64;
        for (number, record) in (done + 1..).zip(batch.records) {
            let write = record.map_err(|invalid| invalid.reason).and_then(|put| {
                plan_batched(table, BatchWrite::Put(put.item)).map_err(|exception| exception.message)
            });
            match write {
                Ok(write) => {
                    imported += 1;
                    writes.insert(write.key.stored.clone(), write);
                }
                Err(reason) => count_error(Some(number), &reason),
            }
        }
        if let Some(reason) = &batch.broken {
            count_error(None, reason);
        }
        let position = match batch.ended {
            true => next.map(|object| SourcePosition { object, records: 0 }),
            false => Some(SourcePosition { object, records: done + records }),
        };
        let (id, before) = (self.id().to_owned(), self.current_progress());
        let planned = PlannedBatch { id, before, records, bytes: batch.bytes, imported, errors, position };
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
