//! DescribeExport: how far an export is.

use crate::export::Export;

#[derive(Clone, Debug)]
pub struct DescribeExport {
    pub arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeExportOutput {
    pub export: Export,
}
