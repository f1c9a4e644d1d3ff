//! What `partita dump` and `partita load` share. The format of a dump is described in docs/dump-format.md.
//!
//! ```text
//! dump:  endpoint → scan → lines → file
//! load:  file → lines → put → endpoint        load from an endpoint:  endpoint → scan → put → endpoint
//! ```
//! All three keep a [`checkpoint`] beside them, so that they can be killed at any time and go on.

pub mod batch_writer;
pub mod checkpoint;
pub mod dump_line;
pub mod parallel_scan;
pub mod private_file;
pub mod table_definition;
pub mod table_setup;
