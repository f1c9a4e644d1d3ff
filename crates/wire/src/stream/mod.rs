//! Streams of a table's changes.

partita_api::operation_modules!(stream);
pub mod stream_arn;
