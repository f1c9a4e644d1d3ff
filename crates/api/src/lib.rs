//! DynamoDB's operations as types. One file per operation holds its request and its response.
//!
//! A request that exists is valid in itself: its shape, its cross-field rules and its expressions were
//! checked when it was decoded. What only the table's schema or the stored data can tell is checked
//! later, by the engine. Knows nothing of HTTP or JSON.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

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
