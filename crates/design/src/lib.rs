//! Single-table models: a file that says which entities share a table, how their keys are made, and which questions the
//! application asks; and the proof that each question is answered.
//!
//! In comes text, out go findings, plans, figures and items. No I/O, no clock, no async: it runs in a browser as well.
//!
//! ```text
//! text → reader → model → plan (per pattern) ─┬→ check → report (text, JSON, SARIF)
//!                           write_plan ───────┼→ explain
//!                           heat, estimate ───┴→ cost, difference
//! ```

pub mod audit;
pub mod capacity;
pub mod check;
pub mod code;
pub mod exchange;
pub mod finding;
pub mod formatting;
pub mod generate;
pub mod inference;
pub mod item;
pub mod keys;
pub mod migration;
pub mod model;
mod name_hints;
pub mod plan;
mod random;
pub mod reader;
pub mod report;
pub mod source;
pub mod template;
pub mod toml_writer;

pub use check::{Report, check};
pub use finding::{Finding, Severity};
pub use model::Model;
pub use reader::read;
pub use source::Source;
