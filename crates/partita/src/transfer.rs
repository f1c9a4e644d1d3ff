//! What `partita dump` and `partita load` share. The format of a dump is described in docs/dump-format.md.
//!
//! ```text
//! dump:  endpoint → parallel_scan → dump_line → file
//! load:  file → dump_line → batch_writer → endpoint
//! load from an endpoint:  endpoint → parallel_scan → batch_writer → endpoint
//! ```
//! All three write a [`checkpoint`], so that they can be killed at any time and resume.

pub mod batch_writer;
pub mod checkpoint;
pub mod dump_line;
pub mod parallel_scan;
pub mod private_file;
pub mod table_definition;
pub mod table_setup;
