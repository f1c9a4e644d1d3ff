//! ListImports: imports, newest first.

use crate::exchange::ListPage;
use crate::import::Import;

/// The request of ListImports.
#[derive(Clone, Debug)]
pub struct ListImports {
    /// Which page of the list.
    pub page: ListPage,
}

/// The response to ListImports.
#[derive(Clone, Debug, PartialEq)]
pub struct ListImportsOutput {
    /// The page of imports.
    pub imports: Vec<Import>,
    /// The id after which the next page starts; `None` on the last page.
    pub next: Option<String>,
}
