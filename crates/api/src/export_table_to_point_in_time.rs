//! ExportTableToPointInTime: a table's items into files.

use crate::exchange::ObjectTarget;
use crate::export::{Export, ExportFormat};
use partita_value::names::TableName;

#[derive(Clone, Debug)]
pub struct ExportTableToPointInTime {
    pub table: TableName,
    /// Seconds since 1970; now, if none is given.
    pub time: Option<i64>,
    pub client_token: Option<String>,
    pub target: ObjectTarget,
    pub format: ExportFormat,
    /// Only what has changed between two times.
    pub incremental: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportTableToPointInTimeOutput {
    pub export: Export,
}
