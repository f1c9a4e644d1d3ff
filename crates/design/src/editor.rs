//! What an editor shows while a model is written: findings, completions, explanations, and where names are declared.
//!
//! Everything here works on text and byte offsets, also on text that is not a model yet: `cursor` finds out what is being written from the
//! characters before it, `outline` which names the rest of the file declares. A language server and the workbench turn offsets into their
//! own positions.

mod completion;
mod cursor;
mod definition;
mod hover;
mod outline;
mod schema_path;

pub use completion::{Completion, CompletionKind, completions};
pub use definition::definition;
pub use hover::hover;
pub use outline::{Outline, Symbol, SymbolKind};

use crate::finding::Finding;
use crate::source::Source;
use crate::{check, read};

/// Returns the findings of a text: the mistakes of the reader or, if it is a model, the findings of the check.
pub fn findings(source: &Source) -> Vec<Finding> {
    match read(source) {
        Err(findings) => findings,
        Ok(model) => check(&model).findings,
    }
}
