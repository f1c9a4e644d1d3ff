//! ExportTableToPointInTime: a table's items into files.

use crate::exchange::ObjectTarget;
use crate::export::{Export, ExportFormat, ExportView};
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct ExportTableToPointInTime {
    pub table: TableName,
    /// Milliseconds since 1970; now, if none is given.
    pub at_millis: Option<i64>,
    pub client_token: Option<String>,
    pub target: ObjectTarget,
    pub format: ExportFormat,
    /// Only what has changed between two times.
    pub incremental: Option<IncrementalExport>,
    /// The filter as it was sent, JSON text, after it was checked.
    pub filter: Option<String>,
}

/// Which changes an incremental export takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncrementalExport {
    pub from_millis: i64,
    /// Now, if none is given.
    pub to_millis: Option<i64>,
    pub view: ExportView,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportTableToPointInTimeOutput {
    pub export: Export,
}
