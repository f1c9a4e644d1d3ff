//! ListImports: imports, newest first.

use crate::exchange::ListPage;
use crate::import::Import;

#[derive(Clone, Debug)]
pub struct ListImports {
    pub page: ListPage,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListImportsOutput {
    pub imports: Vec<Import>,
    /// The id behind which the next page begins.
    pub next: Option<String>,
}
