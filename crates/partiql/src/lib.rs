//! PartiQL for DynamoDB: statements are lowered to the same parts as the other operations.
//!
//! 1. Parsing (`syntax/`): the text becomes a syntax tree, which depends on the text alone and is cached.
//! 2. Binding (`binding/`): the parameters are filled in. The result is a [`Statement`], whose conditions, updates,
//!    projections and items have the same types as those of expressions.
//! 3. Key analysis: with a table's key, `read_access.rs` determines which ranges a SELECT reads and `item_key.rs`
//!    which item a write targets.
//!
//! Every check happens in the first of these stages that has the facts. This crate has no dependency on JSON, tables or
//! storage.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod binding;
mod error;
mod item_key;
mod read_access;
mod statement;
mod syntax;

pub use error::StatementError;
pub use item_key::{NamedItem, named_item};
pub use read_access::{KeyPart, KeyParts, ReadAccess, ReadOrder, ReadRange, read_access, read_order};
pub use statement::{Delete, Insert, Order, Returning, Select, Statement, Update};
