//! Bulk operations in the background. A step reads a page of records and puts the items; how far it came, what was counted and
//! what is to be reported commit with the items, so that no condition is judged twice. At the end the reports and their
//! manifests are written. Operations take turns.

use crate::Engine;
use crate::bucket::bucket_output::{FILES, write_manifests};
use crate::bucket::{Bucket, failure};
use crate::bulk_operation::bulk_record::{BulkRecord, End, table_gone};
use crate::bulk_operation::bulk_run::{Run, next_run};
use crate::catalog::table::Table;
use crate::exchange::complaints;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::exchange::object_source::{Page, Reading, Source};
use crate::exchange::open_ids::Turn;
use crate::key::stored_key::{ExchangeKind, Key};
use crate::maintenance::Progress;
use crate::offload::aside::{Hindrance, aside_with_bucket};
use crate::storage_failed;
use crate::write::{ItemWrite, Outcome};
use partita_api::Exception;
use partita_api::bulk_operation::BulkStatus;
use partita_api::capacity::Units;
use partita_api::exchange::ExchangeFailure;
use partita_store::{Decision, Rows, Snapshot, Store, Write};
use std::sync::Arc;

/// Reports become an object when they have so many bytes.
const REPORT_BYTES: usize = 1 << 20;

/// Where it is stored that a bulk operation is to end. The operation's own rows are its step's alone.
pub fn cancellation_key(id: &str) -> Vec<u8> {
    Key::Exchange { kind: ExchangeKind::BulkCancellation, id: id.as_bytes() }.to_bytes()
}

impl<S: Store> Engine<S> {
    pub(crate) async fn bulk_step(&self) -> Result<Progress, Exception> {
        let Some((record, _turn)) = self.due_bulk_operation()? else {
            return Ok(Progress::Done);
        };
        let id = record.id().to_owned();
        let step = self.advance_bulk(record).await;
        Ok(self.pauses.judge(&id, step))
    }

    async fn advance_bulk(&self, mut record: BulkRecord) -> Result<Progress, Exception> {
        if self.is_bulk_cancelled(record.id())? {
            record.conclude(
                BulkStatus::Cancelled,
                Some(failure("OperationCancelled", "The bulk operation was cancelled")),
            );
        }
        if record.end.is_none() {
            record = match self.work_on_bulk(record.clone()).await {
                Ok(record) => record,
                Err(Hindrance::Exception(exception)) => return Err(exception),
                Err(Hindrance::Failure(_)) if self.has_stopped_exchanges() => return Ok(Progress::Done),
                Err(Hindrance::Failure(failure)) => {
                    // Some of the page's records may be put already.
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

    /// The operation whose turn it is: not one that has failed just now, or has been faster than it may be.
    fn due_bulk_operation(&self) -> Result<Option<(BulkRecord, Turn<'_>)>, Exception> {
        let open = &self.open_bulk_operations;
        self.look_for_open::<BulkRecord>(open)?;
        for _ in open.all() {
            let Some((record, turn)) = self.due_exchange::<BulkRecord>(open)? else { return Ok(None) };
            let is_ending = record.end.is_some() || self.is_bulk_cancelled(record.id())?;
            if is_ending || self.is_within_pace(&record) {
                return Ok(Some((record, turn)));
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
        let now = self.clock.now_millis();
        self.workplaces.with_pace(record.id(), |pace| pace.is_due(units_per_second, now))
    }

    /// Reads a page and puts its records, or only lists the objects.
    async fn work_on_bulk(&self, mut record: BulkRecord) -> Result<BulkRecord, Hindrance> {
        let (page, next) = match self.read_bulk(&record).await? {
            Reading::Page { page, next } => (page, next),
            Reading::Listed { first, bytes } => {
                record.begin(first, bytes)?;
                let writes = record.take_writes();
                self.keep(writes).await?;
                return Ok(record);
            }
        };
        let table = self.catalog.find(&record.table);
        let table =
            table.filter(|table| table.record.id == record.operation.table_id).ok_or_else(table_gone)?;
        self.put_records(record, &table, page, next).await
    }

    async fn read_bulk(&self, record: &BulkRecord) -> Result<Reading, Hindrance> {
        let input = &record.operation.input;
        let source = Source {
            buckets: self.buckets.get().cloned(),
            bucket: input.source.bucket.clone(),
            prefix: input.source.prefix.clone().unwrap_or_default(),
            output: Some(record.operation.output.target.bucket.clone()),
            compression: input.compression,
            format: record.format(),
        };
        let (mut open, place) = (self.workplaces.take_source(record.id()), record.place());
        let work = move || open.read(&source, place.as_ref()).map(|reading| (open, reading));
        let (open, reading) = aside_with_bucket(work).await?;
        self.workplaces.put_source_back(record.id(), open);
        Ok(reading)
    }

    async fn put_records(
        &self,
        mut record: BulkRecord,
        table: &Arc<Table>,
        page: Page,
        next: Option<String>,
    ) -> Result<BulkRecord, Hindrance> {
        record.operation.processed_bytes = record.position.bytes_before + page.object_bytes;
        let mut records = page.records.into_iter();
        let mut behind = records.next();
        while let Some(first) = behind.take() {
            // Before the run, so that it is stored with the run that these lines are in an object.
            self.write_reports(&mut record, REPORT_BYTES).await?;
            let (run, writes, held_back) = next_run(&record, table, first, &mut records);
            record = self.put_run(record, table, run, writes).await?;
            behind = held_back.filter(|_| record.end.is_none());
        }
        if page.ended && record.end.is_none() {
            record.end_object(page.broken, next);
            let writes = record.take_writes();
            self.keep(writes).await?;
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
            before.after(run, table, outcomes).take_writes()
        };
        let outcomes = self.write_each_noting(writes, note).await?;
        before.complain(&run, &outcomes);
        let spent = outcomes.iter().flatten().map(written_units).sum();
        self.workplaces.with_pace(before.id(), |pace| pace.spend(spent));
        let mut record = before.after(&run, table, &outcomes);
        // They are stored already.
        record.take_writes();
        Ok(record)
    }

    /// Writes what is left to be reported, and ends the operation, unless it was cancelled meanwhile.
    async fn finish_bulk(&self, mut record: BulkRecord, end: End) -> Result<(), Exception> {
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
        complaints::sum_up(record.arn(), record.operation.failed_items);
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
            self.workplaces.forget(&id);
        }
        Ok(())
    }

    async fn write_last_reports(
        &self,
        record: &mut BulkRecord,
    ) -> Result<Result<(), ExchangeFailure>, Exception> {
        let written = match self.write_reports(record, 0).await {
            Ok(()) => self.write_manifests(record).await,
            hindered => hindered,
        };
        match written {
            Ok(()) => Ok(Ok(())),
            Err(Hindrance::Failure(failure)) => Ok(Err(failure)),
            Err(Hindrance::Exception(exception)) => Err(exception),
        }
    }

    async fn write_manifests(&self, record: &BulkRecord) -> Result<(), Hindrance> {
        let files = self.report_files(record)?;
        let (buckets, ended) = (self.buckets.get().cloned(), record.clone());
        aside_with_bucket(move || {
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
