//! PartiQL statements, executed as the reads and writes they stand for.

partita_api::operation_modules!(statement);
pub mod statement_read;
pub mod statement_write;
