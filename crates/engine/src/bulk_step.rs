//! Bulk operations in the background. A step reads a page of records and puts the items; how far it came, what was counted and
//! what is to be reported commit with the items, so that no condition is judged twice. At the end the reports and their
//! manifests are written.

use crate::Engine;
use crate::bucket::{Bucket, Listed, failure};
use crate::bucket_output::{FILES, output_key, write_manifests};
use crate::bulk_report::BulkReports;
use crate::exchange_record::ExchangeRecord;
use crate::index_entry::{check_index_keys, in_index};
use crate::item_key::ItemKey;
use crate::maintenance::Progress;
use crate::object_source::{BadRecord, OpenObject, Page, Place};
use crate::storage_failed;
use crate::stored_key::{ExchangeKind, Key};
use crate::table::{IndexKind, Table};
use crate::write::{Action, ItemWrite, Outcome};
use partita_api::bulk_operation::{BulkOperation, BulkStatus, OutputType};
use partita_api::capacity::Units;
use partita_api::exchange::{ExchangeFailure, InputFormat};
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::item_reader::{self, PutLine};
use partita_exchange::item_writer::FailedPut;
use partita_exchange::manifest::{self, BulkSummary};
use partita_store::{Decision, Rows, Snapshot, Store, Write};
use partita_value::Item;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

/// Reports become an object when they have so many bytes.
const REPORT_BYTES: usize = 1 << 20;
/// Conditions in one commit, if their failures are reported: each may have to tell of an item of 400 KB.
const RUN_CONDITIONS: usize = 64;

/// A bulk operation as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BulkRecord {
    pub operation: BulkOperation,
    pub table: String,
    pub position: Position,
    /// Records whose condition was not met.
    pub condition_failures: u64,
    pub reports: BulkReports,
    /// How it ends, once that is known. Reports and manifests may still be missing.
    pub end: Option<End>,
}

/// How far the objects are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Position {
    /// The object that is being read; none before they were listed.
    object: Option<String>,
    /// How many of its records are done.
    records: u64,
    /// The bytes of all objects before it.
    bytes_before: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    status: BulkStatus,
    failure: Option<ExchangeFailure>,
}

impl ExchangeRecord for BulkRecord {
    const KIND: ExchangeKind = ExchangeKind::BulkOperation;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ResourceNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::IdempotentParameterMismatchException;

    fn arn(&self) -> &str {
        &self.operation.arn
    }

    fn table_arn(&self) -> &str {
        &self.operation.table_arn
    }

    fn is_open(&self) -> bool {
        self.operation.status == BulkStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.operation.ended_millis
    }
}

/// Where it is stored that a bulk operation is to end. The operation's own row is its step's alone.
pub fn cancellation_key(id: &str) -> Vec<u8> {
    Key::Exchange { kind: ExchangeKind::BulkCancellation, id: id.as_bytes() }.to_bytes()
}

/// What a step has read.
struct Reading {
    table: Arc<Table>,
    page: Page,
    /// The object behind this one.
    next: Option<String>,
}

/// Records with different keys, which are put in one commit.
#[derive(Default)]
struct Run {
    attempts: Vec<Attempt>,
    failed: Vec<Failed>,
    records: u64,
}

/// What is known about a put before it is tried.
struct Attempt {
    number: u64,
    /// The item, if there may be something to report about it.
    item: Option<Item>,
    bytes: u64,
    /// In the order of the table's indexes.
    index_bytes: Vec<u64>,
}

/// A record that cannot be put.
struct Failed {
    number: Option<u64>,
    code: &'static str,
    message: String,
    item: Option<Item>,
    text: Option<String>,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn bulk_step(&self) -> Result<Progress, Exception> {
        let Some(mut record) = self.due_bulk_operation()? else {
            return Ok(Progress::Done);
        };
        if self.is_bulk_cancelled(record.id())? {
            record.conclude(
                BulkStatus::Cancelled,
                Some(failure("OperationCancelled", "The bulk operation was cancelled")),
            );
        }
        if record.end.is_none() {
            match self.read_bulk(&mut record) {
                Ok(Some(reading)) => record = self.put_records(record, reading).await?,
                Ok(None) => self.keep(record.clone()).await?,
                Err(_) if self.has_stopped_exchanges() => return Ok(Progress::Done),
                Err(failure) => record.conclude(BulkStatus::Failed, Some(failure)),
            }
        }
        if let Some(end) = record.end.take() {
            self.finish_bulk(record, end).await?;
        }
        Ok(Progress::More)
    }

    /// The operation whose turn it is: not one that has been faster than it may be.
    fn due_bulk_operation(&self) -> Result<Option<BulkRecord>, Exception> {
        let open = &self.open_bulk_operations;
        self.look_for_open::<BulkRecord>(open)?;
        for id in open.all() {
            let record: BulkRecord = self.exchange(&id)?;
            if !record.is_open() {
                open.remove(&id);
            } else if record.end.is_some() || self.is_bulk_cancelled(&id)? || self.is_within_pace(&record) {
                open.put_last(&id);
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    pub(crate) fn is_bulk_cancelled(&self, id: &str) -> Result<bool, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        Ok(snapshot.get(&cancellation_key(id)).map_err(storage_failed)?.is_some())
    }

    fn is_within_pace(&self, record: &BulkRecord) -> bool {
        let Some(units_per_second) = record.operation.max_write_units else { return true };
        let mut work = self.bulk_work.lock().unwrap_or_else(PoisonError::into_inner);
        let place = work.entry(record.id().to_owned()).or_default();
        place.pace.is_due(units_per_second, self.clock.now_millis())
    }

    /// The next page, or none where only the objects were listed.
    fn read_bulk(&self, record: &mut BulkRecord) -> Result<Option<Reading>, ExchangeFailure> {
        let source = &record.operation.input.source;
        let bucket = Bucket::open(self.buckets.get(), &source.bucket)?;
        self.output_bucket(record)?;
        let mut work = self.bulk_work.lock().unwrap_or_else(PoisonError::into_inner);
        let place = work.entry(record.id().to_owned()).or_default();
        let objects = place.objects(&bucket, source.prefix.as_deref().unwrap_or_default())?;
        let Some(object) = record.position.object.clone() else {
            record.begin(objects)?;
            return Ok(None);
        };
        let next = objects.get(objects.partition_point(|listed| listed.key <= object));
        let next = next.map(|listed| listed.key.clone());
        let table = self.catalog.find(&record.table);
        let table =
            table.filter(|table| table.record.id == record.operation.table_id).ok_or_else(table_gone)?;
        let at =
            Place { reader: record.operation.arn.clone(), key: object, records: record.position.records };
        let compression = record.operation.input.compression;
        let mut open = OpenObject::at(place.open.take(), &at, &bucket, compression, record.format())?;
        let page = open.page()?;
        place.open = Some(open);
        Ok(Some(Reading { table, page, next }))
    }

    fn output_bucket(&self, record: &BulkRecord) -> Result<Bucket, ExchangeFailure> {
        Bucket::open(self.buckets.get(), &record.operation.output.target.bucket)
    }

    async fn put_records(&self, mut record: BulkRecord, reading: Reading) -> Result<BulkRecord, Exception> {
        let Reading { table, page, next } = reading;
        record.operation.processed_bytes = record.position.bytes_before + page.object_bytes;
        let mut records = page.records.into_iter();
        let mut behind = records.next();
        while let Some(first) = behind.take() {
            // Before the run, so that it is stored with the run that these lines are in an object.
            if let Err(failure) = self.write_reports(&mut record, REPORT_BYTES) {
                if self.has_stopped_exchanges() {
                    return Ok(record);
                }
                record.conclude(BulkStatus::Failed, Some(failure));
                break;
            }
            let (run, writes, held_back) = next_run(&record, &table, first, &mut records);
            record = self.put_run(record, &table, run, writes).await?;
            behind = held_back.filter(|_| record.end.is_none());
        }
        if page.ended && record.end.is_none() {
            record.end_object(page.broken, next);
            self.keep(record.clone()).await?;
        }
        Ok(record)
    }

    /// Puts different items. The record as it is afterwards commits with them.
    async fn put_run(
        &self,
        record: BulkRecord,
        table: &Arc<Table>,
        run: Run,
        writes: Vec<ItemWrite>,
    ) -> Result<BulkRecord, Exception> {
        let (before, run) = (Arc::new(record), Arc::new(run));
        let noted = (Arc::clone(&before), Arc::clone(&run), Arc::clone(table));
        let note = move |outcomes: &[Result<Outcome, Exception>]| {
            let (before, run, table) = &noted;
            vec![before.after(run, table, outcomes).store()]
        };
        let outcomes = self.write_each_noting(writes, note).await?;
        let spent = outcomes.iter().flatten().map(written_units).sum();
        let mut work = self.bulk_work.lock().unwrap_or_else(PoisonError::into_inner);
        work.entry(before.id().to_owned()).or_default().pace.spend(spent);
        Ok(before.after(&run, table, &outcomes))
    }

    /// Writes what is left to be reported, and ends the operation, unless it was cancelled meanwhile.
    async fn finish_bulk(&self, mut record: BulkRecord, end: End) -> Result<(), Exception> {
        record.operation.status = end.status;
        record.operation.failure = end.failure;
        record.operation.ended_millis = Some(self.clock.now_millis());
        let written = self.write_reports(&mut record, 0).and_then(|()| self.write_manifests(&record));
        if written.is_err() && self.has_stopped_exchanges() {
            return Ok(());
        }
        if let Err(failure) = written
            && matches!(end.status, BulkStatus::Completed | BulkStatus::CompletedWithErrors)
        {
            record.operation.status = BulkStatus::Failed;
            record.operation.failure = Some(failure);
        }
        let id = record.id().to_owned();
        let cancellation = cancellation_key(&id);
        let keys = vec![cancellation.clone()];
        let decision = move |rows: &Rows<'_>| {
            if rows[0].is_some() && record.operation.status != BulkStatus::Cancelled {
                return Decision::rejection(false);
            }
            let writes = vec![record.store(), Write::Delete { key: cancellation.clone() }];
            Decision::commit(writes, true)
        };
        if self.store.decide(keys, decision).await.map_err(storage_failed)? {
            self.open_bulk_operations.remove(&id);
            self.bulk_work.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        }
        Ok(())
    }

    /// Those that have become as long as this.
    fn write_reports(&self, record: &mut BulkRecord, least_bytes: usize) -> Result<(), ExchangeFailure> {
        let (target, id) = (record.operation.output.target.clone(), record.id().to_owned());
        let bucket = self.output_bucket(record)?;
        record.reports.write(&bucket, |name| output_key(&target, &id, name), least_bytes)
    }

    fn write_manifests(&self, record: &BulkRecord) -> Result<(), ExchangeFailure> {
        let files_key = record.output_key(FILES);
        let bucket = self.output_bucket(record)?;
        let (files, summary) = (&record.reports.files, record.summary(&files_key));
        write_manifests(&bucket, |name| record.output_key(name), files, &summary).map(drop)
    }
}

fn table_gone() -> ExchangeFailure {
    failure("TableNotFound", "The table was deleted during the bulk operation")
}

fn written_units(outcome: &Outcome) -> u64 {
    let consumption = &outcome.consumption;
    let mut units = consumption.table;
    consumption.indexes.iter().for_each(|(_, _, of_index)| units += *of_index);
    units.0 / Units::whole(1).0
}

type ReadRecord = Result<PutLine, BadRecord>;

/// Plans records until one has the key of another, or there are enough of them. The one that is too much is handed back: it
/// must see what the others did.
fn next_run(
    record: &BulkRecord,
    table: &Arc<Table>,
    first: ReadRecord,
    rest: &mut impl Iterator<Item = ReadRecord>,
) -> (Run, Vec<ItemWrite>, Option<ReadRecord>) {
    let (mut run, mut writes, mut keys) = (Run::default(), Vec::new(), HashSet::new());
    let most_conditions =
        if record.tells(OutputType::ConditionCheckFailure) { RUN_CONDITIONS } else { usize::MAX };
    let mut conditions = 0;
    let mut next = Some(first);
    while let Some(read) = next.take().or_else(|| rest.next()) {
        let number = record.position.records + run.records + 1;
        let put = match read {
            Ok(put) => put,
            Err(bad) => {
                run.fail(Failed::record(number, bad));
                continue;
            }
        };
        let key = match key_of(table, &put.item) {
            Ok(key) => key,
            Err(exception) => {
                run.fail(Failed::item(number, exception, put.item));
                continue;
            }
        };
        conditions += usize::from(put.condition.is_some());
        if conditions > most_conditions || !keys.insert(key.stored.clone()) {
            return (run, writes, Some(Ok(put)));
        }
        run.records += 1;
        run.attempts.push(Attempt::new(table, number, &key, &put));
        writes.push(ItemWrite {
            table: Arc::clone(table),
            key,
            action: Action::Put(put.item),
            condition: put.condition,
            return_values: ReturnValues::None,
            return_item_on_condition_failure: record.tells(OutputType::ConditionCheckFailure),
        });
    }
    (run, writes, None)
}

fn key_of(table: &Table, item: &Item) -> Result<ItemKey, Exception> {
    let key = ItemKey::of_new_item(table, item.view())?;
    check_index_keys(table, item.view())?;
    Ok(key)
}

impl Run {
    fn fail(&mut self, failed: Failed) {
        self.records += 1;
        self.failed.push(failed);
    }
}

impl Attempt {
    fn new(table: &Table, number: u64, key: &ItemKey, put: &PutLine) -> Attempt {
        let item = put.item.view();
        let entry_bytes =
            |index| in_index(index, key, item).ok().flatten().map_or(0, |entry| entry.size as u64);
        // Nothing else can fail once an item is planned.
        let may_fail = put.condition.is_some() || table.collections.is_some();
        Attempt {
            number,
            item: may_fail.then(|| put.item.clone()),
            bytes: item.size() as u64,
            index_bytes: table.indexes.iter().map(entry_bytes).collect(),
        }
    }
}

impl Failed {
    fn record(number: u64, bad: BadRecord) -> Failed {
        let text = Some(bad.text);
        Failed { number: Some(number), code: "MalformedRecord", message: bad.reason, item: None, text }
    }

    fn item(number: u64, exception: Exception, item: Item) -> Failed {
        let (code, message) = (exception.kind.name(), exception.message);
        Failed { number: Some(number), code, message, item: Some(item), text: None }
    }

    fn object(reason: String) -> Failed {
        Failed { number: None, code: "MalformedObject", message: reason, item: None, text: None }
    }
}

impl BulkRecord {
    pub fn new(operation: BulkOperation, table: String) -> BulkRecord {
        BulkRecord {
            operation,
            table,
            position: Position::default(),
            condition_failures: 0,
            reports: BulkReports::default(),
            end: None,
        }
    }

    fn conclude(&mut self, status: BulkStatus, failure: Option<ExchangeFailure>) {
        self.end = Some(End { status, failure });
    }

    fn tells(&self, kind: OutputType) -> bool {
        self.operation.output.types.contains(&kind)
    }

    fn format(&self) -> item_reader::InputFormat {
        match self.operation.input.format {
            InputFormat::Ion => item_reader::InputFormat::Ion,
            InputFormat::DynamoDbJson | InputFormat::Csv => item_reader::InputFormat::DynamoDbJson,
        }
    }

    /// Stands before the first object, and knows how much there is to read.
    fn begin(&mut self, objects: &[Listed]) -> Result<(), ExchangeFailure> {
        let first =
            objects.first().ok_or_else(|| failure("S3NoSuchKey", "The specified key does not exist."))?;
        self.operation.total_bytes = Some(objects.iter().map(|listed| listed.bytes).sum());
        self.position.object = Some(first.key.clone());
        Ok(())
    }

    /// The record once a run has these outcomes.
    fn after(&self, run: &Run, table: &Table, outcomes: &[Result<Outcome, Exception>]) -> BulkRecord {
        let mut record = self.clone();
        let is_gone = |outcome: &Result<Outcome, Exception>| {
            outcome
                .as_ref()
                .is_err_and(|exception| exception.kind == ExceptionKind::ResourceNotFoundException)
        };
        if outcomes.iter().any(is_gone) {
            record.conclude(BulkStatus::Failed, Some(table_gone()));
            return record;
        }
        for failed in &run.failed {
            record.count_failure(failed);
        }
        for (attempt, outcome) in run.attempts.iter().zip(outcomes) {
            match outcome {
                Ok(_) => record.count_usage(table, attempt),
                Err(exception) => record.count_refusal(attempt, exception),
            }
        }
        record.operation.processed_items += run.records;
        record.position.records += run.records;
        record
    }

    fn count_usage(&mut self, table: &Table, attempt: &Attempt) {
        let usage = &mut self.operation.usage;
        usage.table += attempt.bytes;
        for (index, bytes) in table.indexes.iter().zip(&attempt.index_bytes).filter(|(_, bytes)| **bytes > 0)
        {
            let indexes = match index.kind {
                IndexKind::Local => &mut usage.local_indexes,
                IndexKind::Global => &mut usage.global_indexes,
            };
            match indexes.get_mut(&index.name) {
                Some(total) => *total += bytes,
                None => drop(indexes.insert(index.name.clone(), *bytes)),
            }
        }
    }

    fn count_failure(&mut self, failed: &Failed) {
        self.operation.failed_items += 1;
        let item = failed.item.as_ref().map(Item::view);
        let told = FailedPut {
            number: failed.number,
            code: failed.code,
            message: &failed.message,
            item,
            text: failed.text.as_deref(),
            ..FailedPut::default()
        };
        self.tell(OutputType::Error, told);
    }

    /// A planned item was not put after all.
    fn count_refusal(&mut self, attempt: &Attempt, exception: &Exception) {
        let kind = match exception.kind {
            ExceptionKind::ConditionalCheckFailedException => OutputType::ConditionCheckFailure,
            _ => OutputType::Error,
        };
        match kind {
            OutputType::ConditionCheckFailure => self.condition_failures += 1,
            OutputType::Error => self.operation.failed_items += 1,
        }
        let told = FailedPut {
            number: Some(attempt.number),
            code: exception.kind.name(),
            message: &exception.message,
            item: attempt.item.as_ref().map(Item::view),
            existing: exception.item.as_ref().map(Item::view),
            ..FailedPut::default()
        };
        self.tell(kind, told);
    }

    fn tell(&mut self, kind: OutputType, failed: FailedPut<'_>) {
        if self.tells(kind) {
            let object = self.position.object.as_deref().unwrap_or_default();
            self.reports.add(kind, &FailedPut { object, ..failed });
        }
    }

    /// Goes on to the next object, or ends.
    fn end_object(&mut self, broken: Option<String>, next: Option<String>) {
        if let Some(reason) = broken {
            self.operation.processed_items += 1;
            self.count_failure(&Failed::object(reason));
        }
        if next.is_none() {
            let status = match self.operation.failed_items {
                0 => BulkStatus::Completed,
                _ => BulkStatus::CompletedWithErrors,
            };
            return self.conclude(status, None);
        }
        let bytes_before = self.operation.processed_bytes;
        self.position = Position { object: next, records: 0, bytes_before };
    }

    fn output_key(&self, name: &str) -> String {
        output_key(&self.operation.output.target, self.id(), name)
    }

    fn summary<'a>(&'a self, files_key: &'a str) -> BulkSummary<'a> {
        let operation = &self.operation;
        let target = &operation.output.target;
        BulkSummary {
            version: manifest::BULK_VERSION,
            bulk_operation_arn: &operation.arn,
            bulk_operation_status: operation.status.name(),
            start_time: manifest::timestamp(operation.started_millis),
            end_time: manifest::timestamp(operation.ended_millis.unwrap_or_default()),
            table_arn: &operation.table_arn,
            table_id: &operation.table_id,
            s3_bucket: &target.bucket,
            s3_prefix: target.prefix.as_deref(),
            manifest_files_s3_key: files_key,
            output_types: operation.output.types.iter().map(|kind| kind.name()).collect(),
            processed_item_count: operation.processed_items,
            failed_item_count: operation.failed_items,
            condition_check_failure_count: self.condition_failures,
            processed_input_bytes: operation.processed_bytes,
        }
    }
}
