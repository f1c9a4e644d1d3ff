//! Relational schemas and their queries as a single-table model.
//!
//! ```text
//! DDL → schema ─┐
//!               ├→ relations (entities, edges) → keys and indexes → draft
//! log → queries ┘
//! ```
//!
//! Three dialects are read: PostgreSQL, MySQL and SQLite. A statement that is not understood is never guessed at: it becomes a question.

mod column_types;
mod ddl;
mod draft;
mod entities;
mod key_columns;
pub mod naming;
mod placements;
mod query;
mod query_log;
mod reads;
pub mod relations;
pub mod rows;
pub mod schema;
pub mod sheet;
mod statement;
mod tokens;
mod values;
mod writes;

pub use draft::{Observations, draft};
