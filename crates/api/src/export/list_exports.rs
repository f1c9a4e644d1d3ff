//! ListExports: exports, newest first.

use crate::exchange::ListPage;
use crate::export::Export;

/// The request of ListExports.
#[derive(Clone, Debug)]
pub struct ListExports {
    /// Which page of the list.
    pub page: ListPage,
}

/// The response to ListExports.
#[derive(Clone, Debug, PartialEq)]
pub struct ListExportsOutput {
    /// The page of exports.
    pub exports: Vec<Export>,
    /// The id after which the next page starts; `None` on the last page.
    pub next: Option<String>,
}
