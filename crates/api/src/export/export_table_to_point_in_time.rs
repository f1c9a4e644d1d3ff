//! ExportTableToPointInTime: writes a table's items into objects.

use crate::exchange::ObjectTarget;
use crate::export::{Export, ExportFormat, ExportView};
use partita_value::names::TableName;

/// The request of ExportTableToPointInTime.
#[derive(Clone, Debug)]
pub struct ExportTableToPointInTime {
    /// The table to export.
    pub table: TableName,
    /// The time in milliseconds since 1970; now if `None`.
    pub at_millis: Option<i64>,
    /// The token that makes the request idempotent.
    pub client_token: Option<String>,
    /// Where the objects are written.
    pub target: ObjectTarget,
    /// The format of the objects.
    pub format: ExportFormat,
    /// Exports only what changed between two times.
    pub incremental: Option<IncrementalExport>,
    /// The filter as it was sent: valid JSON text.
    pub filter: Option<String>,
}

/// Which changes an incremental export takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncrementalExport {
    /// The first millisecond since 1970 whose changes are taken.
    pub from_millis: i64,
    /// The millisecond since 1970 before which changes are taken; now if `None`.
    pub to_millis: Option<i64>,
    /// What the export shows of a changed item.
    pub view: ExportView,
}

/// The response to ExportTableToPointInTime.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportTableToPointInTimeOutput {
    /// The export.
    pub export: Export,
}
