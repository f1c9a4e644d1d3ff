//! DescribeBulkOperation: the progress of a bulk operation.

use crate::bulk_operation::BulkOperation;

/// The request of DescribeBulkOperation.
#[derive(Clone, Debug)]
pub struct DescribeBulkOperation {
    /// The ARN of the bulk operation.
    pub arn: String,
}

/// The response to DescribeBulkOperation.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeBulkOperationOutput {
    /// The bulk operation.
    pub operation: Box<BulkOperation>,
}
