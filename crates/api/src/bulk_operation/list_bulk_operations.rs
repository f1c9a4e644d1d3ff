//! ListBulkOperations: bulk operations, newest first.

use crate::bulk_operation::BulkOperation;
use crate::exchange::ListPage;

/// The request of ListBulkOperations.
#[derive(Clone, Debug)]
pub struct ListBulkOperations {
    /// Which page of the list.
    pub page: ListPage,
}

/// The response to ListBulkOperations.
#[derive(Clone, Debug, PartialEq)]
pub struct ListBulkOperationsOutput {
    /// The page of bulk operations.
    pub operations: Vec<BulkOperation>,
    /// The id after which the next page starts; `None` on the last page.
    pub next: Option<String>,
}
