//! A bulk operation: what StartBulkPutItems starts, DescribeBulkOperation shows and CancelBulkOperation ends.

crate::operation_modules!(bulk_operation);

use crate::exchange::{ExchangeFailure, InputCompression, InputFormat, ObjectSource, ObjectTarget};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BulkStatus {
    InProgress,
    Completed,
    CompletedWithErrors,
    Cancelling,
    Cancelled,
    Failed,
}

impl BulkStatus {
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkInput {
    pub source: ObjectSource,
    pub format: InputFormat,
    pub compression: InputCompression,
}

/// What is told about records that were not put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OutputType {
    Error,
    ConditionCheckFailure,
}

impl OutputType {
    pub fn name(self) -> &'static str {
        match self {
            OutputType::Error => "ERROR",
            OutputType::ConditionCheckFailure => "CONDITION_CHECK_FAILURE",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOutput {
    pub target: ObjectTarget,
    pub types: Vec<OutputType>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PerformanceTier {
    #[default]
    Standard,
    Accelerated,
}

impl PerformanceTier {
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
    pub table: u64,
    pub local_indexes: BTreeMap<String, u64>,
    pub global_indexes: BTreeMap<String, u64>,
}

impl BulkUsage {
    pub fn total(&self) -> u64 {
        self.table + self.local_indexes.values().sum::<u64>() + self.global_indexes.values().sum::<u64>()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkOperation {
    pub arn: String,
    pub status: BulkStatus,
    /// The table as the request named it.
    pub table_name: String,
    pub table_arn: String,
    pub table_id: String,
    pub client_token: Option<String>,
    pub input: BulkInput,
    pub output: BulkOutput,
    pub started_millis: u64,
    pub ended_millis: Option<u64>,
    /// Records that were read: put, wrong, or with a condition that failed.
    pub processed_items: u64,
    /// Of the objects as they are, compressed if they are.
    pub processed_bytes: u64,
    /// Known once the objects were listed.
    pub total_bytes: Option<u64>,
    pub usage: BulkUsage,
    /// Records that are wrong; failed conditions are not among them.
    pub failed_items: u64,
    pub failure: Option<ExchangeFailure>,
    pub max_write_units: Option<u64>,
    pub tier: PerformanceTier,
}
