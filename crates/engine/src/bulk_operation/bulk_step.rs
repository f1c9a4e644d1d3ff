//! Advances bulk operations in the background, in turn. A step reads a batch of records and puts the items; progress, counts and
//! report lines commit with the items, so that no condition is evaluated twice. At the end the reports and their manifests are
//! written.

use crate::Engine;
use crate::bucket::bucket_output::{FILES, write_manifests};
use crate::bucket::{Bucket, failure};
use crate::bulk_operation::bulk_record::{BulkEnd, BulkRecord, table_gone};
use crate::bulk_operation::bulk_run::{Run, next_run};
use crate::catalog::table::Table;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::exchange::object_source::{Reading, RecordBatch, Source};
use crate::exchange::open_ids::StepGuard;
use crate::exchange::record_errors::log_error_total;
use crate::key::stored_key::{ExchangeKind, Key};
use crate::maintenance::Progress;
use crate::offload::blocking_task::{StepError, run_with_bucket};
use crate::storage_failed;
use crate::write::{ItemWrite, Outcome};
use partita_api::Exception;
use partita_api::bulk_operation::BulkStatus;
use partita_api::capacity::Units;
use partita_api::exchange::ExchangeFailure;
use partita_store::{Decision, Rows, Snapshot, Store, Write};
use std::sync::Arc;

/// Report lines are written to an object once they have this many bytes.
const REPORT_BYTES: usize = 1 << 20;

/// The key of the row that requests cancellation. Only steps write the operation's own rows.
pub fn cancellation_key(id: &str) -> Vec<u8> {
    Key::Exchange { kind: ExchangeKind::BulkCancellation, id: id.as_bytes() }.to_bytes()
}

impl<S: Store> Engine<S> {
    pub(crate) async fn bulk_step(&self) -> Result<Progress, Exception> {
        let Some((record, _guard)) = self.next_bulk_operation()? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.advance_bulk(record).await;
        Ok(self.backoffs.record(&id, step))
    }

    async fn advance_bulk(&self, mut record: BulkRecord) -> Result<Progress, Exception> {
        if self.is_bulk_cancelled(record.id())? {
            record.conclude(
                BulkStatus::Cancelled,
                Some(failure("OperationCancelled", "The bulk operation was cancelled")),
            );
        }
        if record.end.is_none() {
            record = match self.read_and_put(record.clone()).await {
                Ok(record) => record,
                Err(StepError::Exception(exception)) => return Err(exception),
                Err(StepError::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
                Err(StepError::Failure(failure)) => {
                    // Some records of the batch may be put already.
                    let mut record: BulkRecord = self.exchange(record.id())?;
                    record.conclude(BulkStatus::Failed, Some(failure));
                    record
                }
            };
        }
        if let Some(end) = record.end.take() {
            self.finish_bulk(record, end).await?;
        }
        Ok(Progress::More)
    }

    /// Selects the next operation to advance: not one that is backing off or exceeds its write rate.
    fn next_bulk_operation(&self) -> Result<Option<(BulkRecord, StepGuard<'_>)>, Exception> {
        let open = &self.open_bulk_operations;
        self.load_open_exchanges::<BulkRecord>(open)?;
        for _ in open.all() {
            let Some((record, guard)) = self.due_exchange::<BulkRecord>(open)? else { return Ok(None) };
            let is_ending = record.end.is_some() || self.is_bulk_cancelled(record.id())?;
            if is_ending || self.is_within_rate_limit(&record) {
                return Ok(Some((record, guard)));
            }
        }
        Ok(None)
    }

    pub(crate) fn is_bulk_cancelled(&self, id: &str) -> Result<bool, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        Ok(snapshot.get(&cancellation_key(id)).map_err(storage_failed)?.is_some())
    }

    fn is_within_rate_limit(&self, record: &BulkRecord) -> bool {
        let Some(units_per_second) = record.operation.max_write_units else { return true };
        let now = self.clock.now_millis();
        self.step_state.with_rate_limiter(record.id(), |limiter| limiter.may_write(units_per_second, now))
    }

    /// Reads a batch and puts its records, or only lists the objects.
    async fn read_and_put(&self, mut record: BulkRecord) -> Result<BulkRecord, StepError> {
        let (batch, next) = match self.read_bulk(&record).await? {
            Reading::Batch { batch, next } => (batch, next),
            Reading::Listed { first, bytes } => {
                record.start_reading(first, bytes)?;
                let writes = record.take_writes();
                self.store_rows(writes).await?;
                return Ok(record);
            }
        };
        let table = self.catalog.find(&record.table);
        let table =
            table.filter(|table| table.record.id == record.operation.table_id).ok_or_else(table_gone)?;
        self.put_records(record, &table, batch, next).await
    }

    async fn read_bulk(&self, record: &BulkRecord) -> Result<Reading, StepError> {
        let input = &record.operation.input;
        let source = Source {
            buckets: self.buckets.get().cloned(),
            bucket: input.source.bucket.clone(),
            prefix: input.source.prefix.clone().unwrap_or_default(),
            output: Some(record.operation.output.target.bucket.clone()),
            compression: input.compression,
            format: record.format(),
        };
        let (mut open, position) = (self.step_state.take_source(record.id()), record.source_position());
        let work = move || open.read(&source, position.as_ref()).map(|reading| (open, reading));
        let (open, reading) = run_with_bucket(work).await?;
        self.step_state.return_source(record.id(), open);
        Ok(reading)
    }

    async fn put_records(
        &self,
        mut record: BulkRecord,
        table: &Arc<Table>,
        batch: RecordBatch,
        next: Option<String>,
    ) -> Result<BulkRecord, StepError> {
        record.operation.processed_bytes = record.position.bytes_before + batch.object_bytes;
        let mut records = batch.records.into_iter();
        let mut next_record = records.next();
        while let Some(first) = next_record.take() {
            // Before the run, so that the run's commit records that these lines are in an object.
            self.write_reports(&mut record, REPORT_BYTES).await?;
            let (run, writes, held_back) = next_run(&record, table, first, &mut records);
            record = self.put_run(record, table, run, writes).await?;
            next_record = held_back.filter(|_| record.end.is_none());
        }
        if batch.ended && record.end.is_none() {
            record.end_object(batch.broken, next);
            let writes = record.take_writes();
            self.store_rows(writes).await?;
        }
        Ok(record)
    }

    /// Puts a run of records, and commits the operation's progress with them.
    async fn put_run(
        &self,
        record: BulkRecord,
        table: &Arc<Table>,
        run: Run,
        writes: Vec<ItemWrite>,
    ) -> Result<BulkRecord, Exception> {
        let (before, run) = (Arc::new(record), Arc::new(run));
        let shared = (Arc::clone(&before), Arc::clone(&run), Arc::clone(table));
        let progress_writes = move |outcomes: &[Result<Outcome, Exception>]| {
            let (before, run, table) = &shared;
            before.after(run, table, outcomes).take_writes()
        };
        let outcomes = self.write_each_with(writes, progress_writes).await?;
        before.log_errors(&run, &outcomes);
        let spent = outcomes.iter().flatten().map(written_units).sum();
        self.step_state.with_rate_limiter(before.id(), |limiter| limiter.add(spent));
        let mut record = before.after(&run, table, &outcomes);
        // These are committed already.
        record.take_writes();
        Ok(record)
    }

    /// Writes the remaining reports and ends the operation, unless it has been cancelled.
    async fn finish_bulk(&self, mut record: BulkRecord, end: BulkEnd) -> Result<(), Exception> {
        record.operation.status = end.status;
        record.operation.failure = end.failure;
        record.operation.ended_millis = Some(self.clock.now_millis());
        if let Err(failure) = self.write_last_reports(&mut record).await? {
            if self.has_stopped_exchanges() {
                return Ok(());
            }
            if matches!(end.status, BulkStatus::Completed | BulkStatus::CompletedWithErrors) {
                record.operation.status = BulkStatus::Failed;
                record.operation.failure = Some(failure);
            }
        }
        let id = record.id().to_owned();
        log_error_total(record.arn(), record.operation.failed_items);
        let cancellation = cancellation_key(&id);
        let keys = vec![cancellation.clone()];
        let decision = move |rows: &Rows<'_>| {
            if rows[0].is_some() && record.operation.status != BulkStatus::Cancelled {
                return Decision::rejection(false);
            }
            let mut ended = record.clone();
            let mut writes = ended.reports.end(record.id());
            writes.extend(ended.store_end());
            writes.push(Write::Delete { key: cancellation.clone() });
            Decision::commit(writes, true)
        };
        if self.store.decide(keys, decision).await.map_err(storage_failed)? {
            self.open_bulk_operations.remove(&id);
            self.step_state.remove(&id);
        }
        Ok(())
    }

    async fn write_last_reports(
        &self,
        record: &mut BulkRecord,
    ) -> Result<Result<(), ExchangeFailure>, Exception> {
        let written = match self.write_reports(record, 0).await {
            Ok(()) => self.write_manifests(record).await,
            failed => failed,
        };
        match written {
            Ok(()) => Ok(Ok(())),
            Err(StepError::Failure(failure)) => Ok(Err(failure)),
            Err(StepError::Exception(exception)) => Err(exception),
        }
    }

    async fn write_manifests(&self, record: &BulkRecord) -> Result<(), StepError> {
        let files = self.report_files(record)?;
        let (buckets, ended) = (self.buckets.get().cloned(), record.clone());
        run_with_bucket(move || {
            let bucket = Bucket::open(buckets.as_ref(), &ended.operation.output.target.bucket)?;
            let files_key = ended.output_key(FILES);
            let summary = ended.summary(&files_key);
            write_manifests(&bucket, |name| ended.output_key(name), &files, &summary).map(drop)
        })
        .await
    }
}

fn written_units(outcome: &Outcome) -> u64 {
    let consumption = &outcome.consumption;
    let mut units = consumption.table;
    consumption.indexes.iter().for_each(|(_, _, of_index)| units += *of_index);
    units.0 / Units::whole(1).0
}
