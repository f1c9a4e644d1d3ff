//! DescribeBulkOperation: how far a bulk operation is.

use crate::bulk_operation::BulkOperation;

#[derive(Clone, Debug)]
pub struct DescribeBulkOperation {
    pub arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeBulkOperationOutput {
    pub operation: Box<BulkOperation>,
}
