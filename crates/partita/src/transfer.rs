//! What `partita dump` and `partita load` share. The format of a dump is described in docs/dump-format.md.
//!
//! ```text
//! dump:  endpoint → scan → lines → file
//! load:  file → lines → put → endpoint        load from an endpoint:  endpoint → scan → put → endpoint
//! ```
//! All three keep a [`checkpoint`] beside them, so that they can be killed at any time and go on.

pub mod checkpoint;
pub mod definition;
pub mod line;
pub mod private_file;
pub mod put;
pub mod scan;
pub mod table;
