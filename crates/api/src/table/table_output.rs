//! The response of every operation that creates, changes, removes or describes a table.

use crate::table::TableDescription;

/// A response that describes a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOutput {
    /// The table, as it is after the operation.
    pub table: TableDescription,
}
