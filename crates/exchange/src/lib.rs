//! File formats for exports, imports and bulk operations. Pure: bytes in, bytes out.
//!
//! [`item_writer`] writes items as lines; [`item_reader`] reads records in DynamoDB JSON, Amazon Ion text (`ion.rs`) or CSV
//! (`csv.rs`). [`manifest`] writes the files that accompany an export's data. [`compression`] applies to all of them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod byte_order_mark;
pub mod compression;
mod csv;
mod ion;
pub mod item_reader;
pub mod item_writer;
pub mod manifest;

pub use partita_wire::{ChangeLine, ExportFilter, decode_export_filter};
