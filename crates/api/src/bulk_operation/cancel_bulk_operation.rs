//! CancelBulkOperation: ends a bulk operation that is in progress.

use crate::bulk_operation::BulkStatus;

#[derive(Clone, Debug)]
pub struct CancelBulkOperation {
    pub arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CancelBulkOperationOutput {
    pub arn: String,
    pub status: BulkStatus,
}
