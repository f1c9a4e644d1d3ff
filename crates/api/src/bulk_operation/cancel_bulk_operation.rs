//! CancelBulkOperation: ends a bulk operation that is in progress.

use crate::bulk_operation::BulkStatus;

/// The request of CancelBulkOperation.
#[derive(Clone, Debug)]
pub struct CancelBulkOperation {
    /// The ARN of the bulk operation.
    pub arn: String,
}

/// The response to CancelBulkOperation.
#[derive(Clone, Debug, PartialEq)]
pub struct CancelBulkOperationOutput {
    /// The ARN of the bulk operation.
    pub arn: String,
    /// The status.
    pub status: BulkStatus,
}
