//! A bulk operation as it is stored, and what it becomes with each run of puts.

use crate::bucket::bucket_output::output_key;
use crate::bucket::failure;
use crate::bulk_operation::bulk_report::BulkReports;
use crate::bulk_operation::bulk_run::{Attempt, Failed, Run};
use crate::catalog::table::{IndexKind, Table};
use crate::exchange::complaints::{self, complain};
use crate::exchange::exchange_record::ExchangeRecord;
use crate::exchange::object_source::Place;
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

/// How far a bulk operation has come.
#[derive(Serialize, Deserialize)]
pub struct BulkProgress {
    position: Position,
    processed_items: u64,
    processed_bytes: u64,
    total_bytes: Option<u64>,
    usage: BulkUsage,
    failed_items: u64,
    condition_failures: u64,
    reports: BulkReports,
    end: Option<End>,
}

/// How far the objects are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Position {
    /// The object that is being read; none before they were listed.
    pub object: Option<String>,
    /// How many of its records are done.
    pub records: u64,
    /// The bytes of all objects before it.
    pub bytes_before: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
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
            position: Position::default(),
            condition_failures: 0,
            reports: BulkReports::default(),
            end: None,
        }
    }

    pub fn conclude(&mut self, status: BulkStatus, failure: Option<ExchangeFailure>) {
        self.end = Some(End { status, failure });
    }

    pub fn tells(&self, kind: OutputType) -> bool {
        self.operation.output.types.contains(&kind)
    }

    pub fn format(&self) -> item_reader::InputFormat {
        match self.operation.input.format {
            InputFormat::Ion => item_reader::InputFormat::Ion,
            InputFormat::DynamoDbJson | InputFormat::Csv => item_reader::InputFormat::DynamoDbJson,
        }
    }

    /// Stands before the first object, and knows how much there is to read.
    pub fn begin(&mut self, first: Option<String>, bytes: u64) -> Result<(), ExchangeFailure> {
        let first = first.ok_or_else(|| failure("S3NoSuchKey", "The specified key does not exist."))?;
        self.operation.total_bytes = Some(bytes);
        self.position.object = Some(first);
        Ok(())
    }

    /// Where the next record is; nowhere before the objects were listed.
    pub fn place(&self) -> Option<Place> {
        let object = self.position.object.clone()?;
        Some(Place { object, records: self.position.records })
    }

    /// What is to be stored behind a step: how far it has come, and what there is to report.
    pub fn take_writes(&mut self) -> Vec<Write> {
        let id = self.id().to_owned();
        let mut writes = self.reports.take_writes(&id);
        writes.push(self.store_progress());
        writes
    }

    /// Shows in the log what a run has failed to put.
    pub fn complain(&self, run: &Run, outcomes: &[Result<Outcome, Exception>]) {
        let refused = run.attempts.iter().zip(outcomes).filter_map(|(attempt, outcome)| {
            let exception = outcome.as_ref().err()?;
            let is_error = exception.kind != ExceptionKind::ConditionalCheckFailedException;
            is_error.then_some((Some(attempt.number), &exception.message))
        });
        let failed = run.failed.iter().map(|failed| (failed.number, &failed.message));
        let object = self.position.object.as_deref().unwrap_or_default();
        for (before, (record, reason)) in (self.operation.failed_items..).zip(failed.chain(refused)) {
            complain(before, complaints::Place { operation: self.arn(), object, record }, reason);
        }
    }

    /// The record once a run has these outcomes.
    pub fn after(&self, run: &Run, table: &Table, outcomes: &[Result<Outcome, Exception>]) -> BulkRecord {
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
    pub fn end_object(&mut self, broken: Option<String>, next: Option<String>) {
        if let Some(reason) = broken {
            let object = self.position.object.as_deref().unwrap_or_default();
            let place = complaints::Place { operation: self.arn(), object, record: None };
            complain(self.operation.failed_items, place, &reason);
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
