//! Streams of a table's changes.

crate::operation_modules!(stream);
pub mod sequence_number;
