//! DescribeExport: the progress of an export.

use crate::export::Export;

/// The request of DescribeExport.
#[derive(Clone, Debug)]
pub struct DescribeExport {
    /// The ARN of the export.
    pub arn: String,
}

/// The response to DescribeExport.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeExportOutput {
    /// The export.
    pub export: Export,
}
