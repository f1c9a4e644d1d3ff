//! DescribeImport: the progress of an import.

use crate::import::Import;

/// The request of DescribeImport.
#[derive(Clone, Debug)]
pub struct DescribeImport {
    /// The ARN of the import.
    pub arn: String,
}

/// The response to DescribeImport.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeImportOutput {
    /// The import.
    pub import: Import,
}
