//! ListExports: exports, newest first.

use crate::exchange::ListPage;
use crate::export::Export;

#[derive(Clone, Debug)]
pub struct ListExports {
    pub page: ListPage,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListExportsOutput {
    pub exports: Vec<Export>,
    /// The id behind which the next page begins.
    pub next: Option<String>,
}
