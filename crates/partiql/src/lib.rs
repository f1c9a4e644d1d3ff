//! PartiQL for DynamoDB: a statement's text becomes what the other operations are made of.
//!
//! 1. [`token`] cuts the text, `statement_parser.rs` and `parser.rs` read it into a tree ([`syntax`]) that depends
//!    on the text alone and is kept for the next time.
//! 2. `binding.rs` puts the parameters in their places and gives a [`Statement`]: conditions, updates, projections
//!    and items are the same types that expressions give (`condition.rs`, `update.rs`, `columns.rs`, `literal.rs`).
//! 3. With a table's key, `read_access.rs` tells which ranges a SELECT reads and `item_key.rs` which item a write
//!    means.
//!
//! Every check sits at the first of these that has the facts. Knows nothing of JSON, tables or storage.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod binding;
mod columns;
mod condition;
mod error;
mod item_key;
mod keyword;
mod literal;
mod parser;
mod read_access;
mod statement;
mod statement_parser;
mod syntax;
mod token;
mod update;

pub use error::StatementError;
pub use item_key::{NamedItem, named_item};
pub use read_access::{KeyPart, KeyParts, ReadAccess, ReadOrder, ReadRange, read_access, read_order};
pub use statement::{Delete, Insert, Order, Returning, Select, Statement, Update};
