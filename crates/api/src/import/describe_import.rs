//! DescribeImport: how far an import is.

use crate::import::Import;

#[derive(Clone, Debug)]
pub struct DescribeImport {
    pub arn: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeImportOutput {
    pub import: Import,
}
