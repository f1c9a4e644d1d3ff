//! PartiQL statements, executed as the reads and writes they are equivalent to.
//!
//! [`statement_read`] turns a SELECT into ranges for the reader, [`statement_write`] turns the other statements into the
//! actions of a transaction. Parsing is done in the crate `partita-partiql`.

partita_api::operation_modules!(statement);
pub mod statement_read;
pub mod statement_write;
