//! Bulk operations in the background. A step reads a page of records and puts the items; how far it came, what was counted and
//! what is to be reported commit with the items, so that no condition is judged twice. At the end the reports and their
//! manifests are written.

use crate::Engine;
use crate::bucket::{Bucket, failure};
use crate::bucket_output::{FILES, output_key, write_manifests};
use crate::bulk_record::{BulkRecord, End, table_gone};
use crate::bulk_run::{Run, next_run};
use crate::exchange_record::ExchangeRecord;
use crate::maintenance::Progress;
use crate::object_source::{OpenObject, Page, Place};
use crate::storage_failed;
use crate::stored_key::{ExchangeKind, Key};
use crate::table::Table;
use crate::write::{ItemWrite, Outcome};
use partita_api::Exception;
use partita_api::bulk_operation::BulkStatus;
use partita_api::capacity::Units;
use partita_api::exchange::ExchangeFailure;
use partita_store::{Decision, Rows, Snapshot, Store, Write};
use std::sync::{Arc, PoisonError};

/// Reports become an object when they have so many bytes.
const REPORT_BYTES: usize = 1 << 20;

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

fn written_units(outcome: &Outcome) -> u64 {
    let consumption = &outcome.consumption;
    let mut units = consumption.table;
    consumption.indexes.iter().for_each(|(_, _, of_index)| units += *of_index);
    units.0 / Units::whole(1).0
}
