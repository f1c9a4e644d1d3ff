//! The stored record of a bulk operation, and how each run of puts changes it.

use crate::bucket::bucket_output::output_key;
use crate::bucket::failure;
use crate::bulk_operation::bulk_report::BulkReports;
use crate::bulk_operation::bulk_run::{Attempt, FailedRecord, Run};
use crate::catalog::table::{IndexKind, Table};
use crate::exchange::exchange_record::ExchangeRecord;
use crate::exchange::object_source::SourcePosition;
use crate::exchange::record_errors::{RecordLocation, log_record_error};
use crate::key::stored_key::ExchangeKind;
use crate::write::Outcome;
use partita_api::bulk_operation::{BulkOperation, BulkStatus, BulkUsage, OutputType};
use partita_api::exchange::{ExchangeFailure, InputFormat};
use partita_api::{Exception, ExceptionKind};
use partita_exchange::item_reader;
use partita_exchange::item_writer::FailedPut;
use partita_exchange::manifest::{self, BulkSummary};
use partita_store::Write;
use partita_value::{Item, calendar};
use serde::{Deserialize, Serialize};

/// The stored record of a bulk operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BulkRecord {
    pub operation: BulkOperation,
    pub table: String,
    pub position: BulkPosition,
    /// How many records failed their condition.
    pub condition_failures: u64,
    pub reports: BulkReports,
    /// How it ends, once that is known. Reports and manifests may still have to be written.
    pub end: Option<BulkEnd>,
}

/// The part of a record that changes with every step.
#[derive(Serialize, Deserialize)]
pub struct BulkProgress {
    position: BulkPosition,
    processed_items: u64,
    processed_bytes: u64,
    total_bytes: Option<u64>,
    usage: BulkUsage,
    failed_items: u64,
    condition_failures: u64,
    reports: BulkReports,
    end: Option<BulkEnd>,
}

/// How far the objects have been read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BulkPosition {
    /// The object that is being read; `None` before the objects are listed.
    pub object: Option<String>,
    /// How many of its records have been processed.
    pub records: u64,
    /// The size of all objects before it.
    pub bytes_before: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BulkEnd {
    pub status: BulkStatus,
    pub failure: Option<ExchangeFailure>,
}

impl ExchangeRecord for BulkRecord {
    const KIND: ExchangeKind = ExchangeKind::BulkOperation;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ResourceNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::IdempotentParameterMismatchException;
    type Progress = BulkProgress;

    fn arn(&self) -> &str {
        &self.operation.arn
    }

    fn table_arn(&self) -> &str {
        &self.operation.table_arn
    }

    fn bucket(&self) -> Option<&str> {
        Some(&self.operation.input.source.bucket)
    }

    fn is_open(&self) -> bool {
        self.operation.status == BulkStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.operation.ended_millis
    }

    fn progress(&self) -> Option<BulkProgress> {
        let operation = &self.operation;
        Some(BulkProgress {
            position: self.position.clone(),
            processed_items: operation.processed_items,
            processed_bytes: operation.processed_bytes,
            total_bytes: operation.total_bytes,
            usage: operation.usage.clone(),
            failed_items: operation.failed_items,
            condition_failures: self.condition_failures,
            reports: self.reports.clone(),
            end: self.end.clone(),
        })
    }

    fn resume(&mut self, progress: BulkProgress) {
        let operation = &mut self.operation;
        operation.processed_items = progress.processed_items;
        operation.processed_bytes = progress.processed_bytes;
        operation.total_bytes = progress.total_bytes;
        operation.usage = progress.usage;
        operation.failed_items = progress.failed_items;
        self.position = progress.position;
        self.condition_failures = progress.condition_failures;
        self.reports = progress.reports;
        self.end = progress.end;
    }
}

impl BulkRecord {
    pub fn new(operation: BulkOperation, table: String) -> BulkRecord {
        BulkRecord {
            operation,
            table,
            position: BulkPosition::default(),
            condition_failures: 0,
            reports: BulkReports::default(),
            end: None,
        }
    }

    pub fn conclude(&mut self, status: BulkStatus, failure: Option<ExchangeFailure>) {
        self.end = Some(BulkEnd { status, failure });
    }

    pub fn has_output(&self, kind: OutputType) -> bool {
        self.operation.output.types.contains(&kind)
    }

    pub fn format(&self) -> item_reader::InputFormat {
        match self.operation.input.format {
            InputFormat::Ion => item_reader::InputFormat::Ion,
            InputFormat::DynamoDbJson | InputFormat::Csv => item_reader::InputFormat::DynamoDbJson,
        }
    }

    /// Sets the position to the first object, and the total size.
    pub fn start_reading(&mut self, first: Option<String>, bytes: u64) -> Result<(), ExchangeFailure> {
        let first = first.ok_or_else(|| failure("S3NoSuchKey", "The specified key does not exist."))?;
        self.operation.total_bytes = Some(bytes);
        self.position.object = Some(first);
        Ok(())
    }

    /// The position of the next record; `None` before the objects are listed.
    pub fn source_position(&self) -> Option<SourcePosition> {
        let object = self.position.object.clone()?;
        Some(SourcePosition { object, records: self.position.records })
    }

    /// Takes the writes to commit after a step: progress and report lines.
    pub fn take_writes(&mut self) -> Vec<Write> {
        let id = self.id().to_owned();
        let mut writes = self.reports.take_writes(&id);
        writes.push(self.store_progress());
        writes
    }

    /// Logs the records that a run failed to put.
    pub fn log_errors(&self, run: &Run, outcomes: &[Result<Outcome, Exception>]) {
        let refused = run.attempts.iter().zip(outcomes).filter_map(|(attempt, outcome)| {
            let exception = outcome.as_ref().err()?;
            let is_error = exception.kind != ExceptionKind::ConditionalCheckFailedException;
            is_error.then_some((Some(attempt.number), &exception.message))
        });
        let failed = run.failed.iter().map(|failed| (failed.number, &failed.message));
        let object = self.position.object.as_deref().unwrap_or_default();
        for (before, (record, reason)) in (self.operation.failed_items..).zip(failed.chain(refused)) {
            log_record_error(before, RecordLocation { operation: self.arn(), object, record }, reason);
        }
    }

    /// Returns the record after a run with these outcomes.
    pub fn after(&self, run: &Run, table: &Table, outcomes: &[Result<Outcome, Exception>]) -> BulkRecord {
        let mut record = self.clone();
        let table_is_gone = |outcome: &Result<Outcome, Exception>| {
            outcome
                .as_ref()
                .is_err_and(|exception| exception.kind == ExceptionKind::ResourceNotFoundException)
        };
        if outcomes.iter().any(table_is_gone) {
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

    fn count_failure(&mut self, failed: &FailedRecord) {
        self.operation.failed_items += 1;
        let item = failed.item.as_ref().map(Item::view);
        let report = FailedPut {
            number: failed.number,
            code: failed.code,
            message: &failed.message,
            item,
            text: failed.text.as_deref(),
            ..FailedPut::default()
        };
        self.report(OutputType::Error, report);
    }

    /// Counts a planned put that failed.
    fn count_refusal(&mut self, attempt: &Attempt, exception: &Exception) {
        let kind = match exception.kind {
            ExceptionKind::ConditionalCheckFailedException => OutputType::ConditionCheckFailure,
            _ => OutputType::Error,
        };
        match kind {
            OutputType::ConditionCheckFailure => self.condition_failures += 1,
            OutputType::Error => self.operation.failed_items += 1,
        }
        let report = FailedPut {
            number: Some(attempt.number),
            code: exception.kind.name(),
            message: &exception.message,
            item: attempt.item.as_ref().map(Item::view),
            existing: exception.item.as_ref().map(Item::view),
            ..FailedPut::default()
        };
        self.report(kind, report);
    }

    fn report(&mut self, kind: OutputType, failed: FailedPut<'_>) {
        if self.has_output(kind) {
            let object = self.position.object.as_deref().unwrap_or_default();
            self.reports.add(kind, &FailedPut { object, ..failed });
        }
    }

    /// Moves to the next object, or ends after the last one.
    pub fn end_object(&mut self, broken: Option<String>, next: Option<String>) {
        if let Some(reason) = broken {
            let object = self.position.object.as_deref().unwrap_or_default();
            let location = RecordLocation { operation: self.arn(), object, record: None };
            log_record_error(self.operation.failed_items, location, &reason);
            self.operation.processed_items += 1;
            self.count_failure(&FailedRecord::malformed_object(reason));
        }
        if next.is_none() {
            let status = match self.operation.failed_items {
                0 => BulkStatus::Completed,
                _ => BulkStatus::CompletedWithErrors,
            };
            return self.conclude(status, None);
        }
        let bytes_before = self.operation.processed_bytes;
        self.position = BulkPosition { object: next, records: 0, bytes_before };
    }

    pub fn output_key(&self, name: &str) -> String {
        output_key(&self.operation.output.target, self.id(), name)
    }

    pub fn summary<'a>(&'a self, files_key: &'a str) -> BulkSummary<'a> {
        let operation = &self.operation;
        let target = &operation.output.target;
        BulkSummary {
            version: manifest::BULK_VERSION,
            bulk_operation_arn: &operation.arn,
            bulk_operation_status: operation.status.name(),
            start_time: calendar::timestamp(operation.started_millis),
            end_time: calendar::timestamp(operation.ended_millis.unwrap_or_default()),
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

pub fn table_gone() -> ExchangeFailure {
    failure("TableNotFound", "The table was deleted during the bulk operation")
}
