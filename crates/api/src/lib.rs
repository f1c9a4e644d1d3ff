//! The operations of DynamoDB as types. Each operation has a file with its request and its response, and a line in the
//! table of operations ([`operation`]).
//!
//! A request that exists is valid in itself: its shape, its cross-field rules and its expressions were
//! checked when it was decoded. What depends on the table's schema or the stored data is checked
//! later, by the engine. This crate knows nothing of HTTP or JSON.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![warn(missing_docs)]

pub mod capacity;
pub mod exception;
pub mod exchange;
pub mod key_schema;
pub mod messages;
pub mod operation;
pub mod reporting;
pub mod request;

pub mod account;
pub mod backup;
pub mod bulk_operation;
pub mod export;
pub mod import;
pub mod item;
pub mod statement;
pub mod stream;
pub mod table;
pub mod tag;
pub mod time_to_live;

pub use exception::{Exception, ExceptionKind};
pub use operation::Operation;
pub use request::{Request, Response};
