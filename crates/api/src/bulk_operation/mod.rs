//! Bulk operations, which put the records of objects in a bucket into a table.

crate::operation_modules!(bulk_operation);

use crate::exchange::{ExchangeFailure, InputCompression, InputFormat, ObjectSource, ObjectTarget};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of a bulk operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BulkStatus {
    /// Records are being put.
    InProgress,
    /// All records were put.
    Completed,
    /// Some records could not be put.
    CompletedWithErrors,
    /// It ends with its next step.
    Cancelling,
    /// It was cancelled.
    Cancelled,
    /// It ended early, with a failure.
    Failed,
}

impl BulkStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            BulkStatus::InProgress => "IN_PROGRESS",
            BulkStatus::Completed => "COMPLETED",
            BulkStatus::CompletedWithErrors => "COMPLETED_WITH_ERRORS",
            BulkStatus::Cancelling => "CANCELLING",
            BulkStatus::Cancelled => "CANCELLED",
            BulkStatus::Failed => "FAILED",
        }
    }
}

/// The objects that a bulk operation reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkInput {
    /// The objects to read.
    pub source: ObjectSource,
    /// The format of the objects.
    pub format: InputFormat,
    /// The compression of the objects.
    pub compression: InputCompression,
}

/// The kinds of records that a bulk operation reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OutputType {
    /// Invalid records.
    Error,
    /// Records whose conditions failed.
    ConditionCheckFailure,
}

impl OutputType {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            OutputType::Error => "ERROR",
            OutputType::ConditionCheckFailure => "CONDITION_CHECK_FAILURE",
        }
    }
}

/// Where a bulk operation reports records that were not put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOutput {
    /// Where the objects are written.
    pub target: ObjectTarget,
    /// Which records are reported.
    pub types: Vec<OutputType>,
}

/// The performance tier of a bulk operation. Stored and described only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PerformanceTier {
    /// `STANDARD`.
    #[default]
    Standard,
    /// `ACCELERATED`.
    Accelerated,
}

impl PerformanceTier {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            PerformanceTier::Standard => "STANDARD",
            PerformanceTier::Accelerated => "ACCELERATED",
        }
    }
}

/// The bytes put into a table and, by name, into its indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkUsage {
    /// The bytes put into the table.
    pub table: u64,
    /// The bytes put into each local index.
    pub local_indexes: BTreeMap<String, u64>,
    /// The bytes put into each global index.
    pub global_indexes: BTreeMap<String, u64>,
}

impl BulkUsage {
    /// The sum of all bytes.
    pub fn total(&self) -> u64 {
        self.table + self.local_indexes.values().sum::<u64>() + self.global_indexes.values().sum::<u64>()
    }
}

/// A bulk operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOperation {
    /// Its ARN.
    pub arn: String,
    /// The status.
    pub status: BulkStatus,
    /// The table as the request named it.
    pub table_name: String,
    /// The ARN of the table.
    pub table_arn: String,
    /// The id of the table.
    pub table_id: String,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// What it reads.
    pub input: BulkInput,
    /// Where it reports records that were not put.
    pub output: BulkOutput,
    /// When it started, in milliseconds since 1970.
    pub started_millis: u64,
    /// When it ended, in milliseconds since 1970; `None` while it is in progress.
    pub ended_millis: Option<u64>,
    /// The number of records read: put, invalid, or with a condition that failed.
    pub processed_items: u64,
    /// The bytes read, compressed if the objects are.
    pub processed_bytes: u64,
    /// The size of all objects, once they are listed.
    pub total_bytes: Option<u64>,
    /// The bytes it has put.
    pub usage: BulkUsage,
    /// The number of invalid records; failed conditions do not count.
    pub failed_items: u64,
    /// Why it failed, if it did.
    pub failure: Option<ExchangeFailure>,
    /// The maximum write units per second, if bounded.
    pub max_write_units: Option<u64>,
    /// The performance tier.
    pub tier: PerformanceTier,
}
