//! Plain JSON: a pull reader over the body and a writer into one buffer.

mod member;
mod plain_run;
mod reader;
mod typed;
mod writer;

pub(crate) use member::Seconds;
pub(crate) use plain_run::quotes_if_plain;
pub(crate) use reader::{JsonType, Reader};
pub(crate) use typed::{Entries, Shape};
pub(crate) use writer::{Writer, write_base64, write_text};
