//! Exports of a table into objects in a bucket.

crate::operation_modules!(export);

use crate::exchange::{ExchangeFailure, ExchangeStatus, ObjectTarget};
use serde::{Deserialize, Serialize};

/// The format of exported objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportFormat {
    /// DynamoDB JSON, one item per line.
    #[default]
    DynamoDbJson,
    /// Amazon Ion text.
    Ion,
}

impl ExportFormat {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::DynamoDbJson => "DYNAMODB_JSON",
            ExportFormat::Ion => "ION",
        }
    }
}

/// Which of a table's items are exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportScope {
    /// All items of the table as of one point in time.
    #[default]
    Full,
    /// The items that changed between two times.
    Incremental(ExportWindow),
}

impl ExportScope {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ExportScope::Full => "FULL_EXPORT",
            ExportScope::Incremental(_) => "INCREMENTAL_EXPORT",
        }
    }
}

/// The period whose changes are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportWindow {
    /// The first millisecond since 1970 whose changes are taken.
    pub from_millis: u64,
    /// The millisecond since 1970 before which changes are taken.
    pub to_millis: u64,
    /// What the export shows of a changed item.
    pub view: ExportView,
}

/// What an incremental export shows of a changed item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportView {
    /// The item after the change.
    NewImage,
    /// The item after and before the change.
    #[default]
    NewAndOldImages,
}

impl ExportView {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ExportView::NewImage => "NEW_IMAGE",
            ExportView::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// An export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Its ARN.
    pub arn: String,
    /// The ARN of the table.
    pub table_arn: String,
    /// The id of the table.
    pub table_id: String,
    /// The status.
    pub status: ExchangeStatus,
    /// When it started, in milliseconds since 1970.
    pub started_millis: u64,
    /// When it ended, in milliseconds since 1970; `None` while it is in progress.
    pub ended_millis: Option<u64>,
    /// The time as of which items are exported, in milliseconds since 1970.
    pub export_time_millis: u64,
    /// Which items are exported.
    #[serde(default)]
    pub scope: ExportScope,
    /// The filter as it was sent: JSON text.
    #[serde(default)]
    pub filter: Option<String>,
    /// The format of the objects.
    pub format: ExportFormat,
    /// Where the objects are written.
    pub target: ObjectTarget,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// The key of the manifest object, once it is written.
    pub manifest: Option<String>,
    /// The number of items exported.
    pub items: u64,
    /// The total size of the exported items.
    pub bytes: u64,
    /// Why it failed, if it did.
    pub failure: Option<ExchangeFailure>,
}
