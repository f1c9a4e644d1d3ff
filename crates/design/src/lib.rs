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

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod attribution;
pub mod audit;
pub mod check;
pub mod code;
pub mod condition;
pub mod cost;
pub mod definition;
pub mod difference;
pub mod emission;
pub mod estimate;
pub mod explain;
pub mod finding;
pub mod generate;
pub mod heat;
pub mod inference;
pub mod inspection;
mod key_tree;
pub mod keyspace;
mod lookup;
pub mod migration;
pub mod model;
mod naming;
pub mod onetable;
pub mod plan;
pub mod price;
mod random;
pub mod reader;
mod reference;
pub mod report;
pub mod schema;
pub mod slot;
pub mod source;
pub mod template;
pub mod value_type;
pub mod workbench;
pub mod write_plan;

pub use check::{Report, check};
pub use finding::{Finding, Severity};
pub use model::Model;
pub use reader::read;
pub use source::Source;
