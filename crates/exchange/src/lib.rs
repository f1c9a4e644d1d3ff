//! The formats of files with which items leave a database and come into it. Pure: bytes in, bytes out.
//!
//! [`item_writer`] turns items into lines; [`item_reader`] takes records of a file apart, in DynamoDB JSON, Amazon Ion text
//! ([`ion`]) or CSV ([`csv`]). [`manifest`] makes the files that stand beside an export's data. [`compression`] is for all of
//! them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod byte_order_mark;
pub mod compression;
mod csv;
mod ion;
pub mod item_reader;
pub mod item_writer;
pub mod manifest;

pub use partita_wire::{ChangeLine, ExportFilter, decode_export_filter};
