//! An export: what ExportTableToPointInTime starts and DescribeExport shows.

crate::operation_modules!(export);

use crate::exchange::{ExchangeFailure, ExchangeStatus, ObjectTarget};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportFormat {
    #[default]
    DynamoDbJson,
    Ion,
}

impl ExportFormat {
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
    /// All there were at a time.
    #[default]
    Full,
    /// Those that changed between two times.
    Incremental(ExportWindow),
}

impl ExportScope {
    pub fn name(self) -> &'static str {
        match self {
            ExportScope::Full => "FULL_EXPORT",
            ExportScope::Incremental(_) => "INCREMENTAL_EXPORT",
        }
    }
}

/// Changes from one time on and before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportWindow {
    pub from_millis: u64,
    pub to_millis: u64,
    pub view: ExportView,
}

/// What is told of a changed item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportView {
    NewImage,
    #[default]
    NewAndOldImages,
}

impl ExportView {
    pub fn name(self) -> &'static str {
        match self {
            ExportView::NewImage => "NEW_IMAGE",
            ExportView::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    pub arn: String,
    pub table_arn: String,
    pub table_id: String,
    pub status: ExchangeStatus,
    pub started_millis: u64,
    pub ended_millis: Option<u64>,
    pub export_time_millis: u64,
    #[serde(default)]
    pub scope: ExportScope,
    /// The filter as it was sent: JSON text.
    #[serde(default)]
    pub filter: Option<String>,
    pub format: ExportFormat,
    pub target: ObjectTarget,
    pub client_token: Option<String>,
    pub manifest: Option<String>,
    pub items: u64,
    pub bytes: u64,
    pub failure: Option<ExchangeFailure>,
}
