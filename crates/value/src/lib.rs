//! DynamoDB's data model: attribute values, exact numbers and items.
//!
//! An item is encoded **once**, on arrival (see [`encoding`]), and stays in that form through the
//! engine and the store and back out. All code that inspects an item reads the bytes through
//! [`ItemRef`] and [`ValueRef`], which borrow and never copy. The encoding is canonical, so two equal
//! values have equal bytes.
//!
//! ```
//! use partita_value::{AttributeValue, Item, Number, ValueRef};
//!
//! let item: Item = [
//!     ("pk", AttributeValue::S("USER#1".into())),
//!     ("age", AttributeValue::N(Number::parse("4.20e1")?)),
//! ]
//! .into_iter()
//! .collect();
//!
//! assert_eq!(item.get("age"), Some(ValueRef::N(b"42")));
//! assert_eq!(item.get("name"), None);
//! // Names, text and digits count; two digits share a byte.
//! assert_eq!(item.size(), "pk".len() + "USER#1".len() + "age".len() + 2);
//! # Ok::<(), partita_value::NumberError>(())
//! ```
//!
//! This crate has no dependency on JSON, I/O, async code or the clock.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod attribute_value;
pub mod calendar;
pub mod canonical;
pub mod encoding;
mod item;
pub mod limits;
pub mod names;
mod number;
pub mod ordered_key;
mod size;
mod view;

pub use attribute_value::AttributeValue;
pub use encoding::{Encoder, SetError};
pub use item::{Item, ItemBuilder, Value};
pub use number::{Number, NumberError};
pub use view::{Entries, ItemRef, ListElements, ListRef, MapRef, ScalarType, SetElements, SetRef, ValueRef};
