//! ListBulkOperations: bulk operations, newest first.

use crate::bulk_operation::BulkOperation;
use crate::exchange::ListPage;

#[derive(Clone, Debug)]
pub struct ListBulkOperations {
    pub page: ListPage,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListBulkOperationsOutput {
    pub operations: Vec<BulkOperation>,
    /// The id behind which the next page begins.
    pub next: Option<String>,
}
