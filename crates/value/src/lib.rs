//! What DynamoDB stores: attribute values, exact numbers and items.
//!
//! An item is encoded **once**, when it enters (see [`encoding`]), and stays those bytes through the
//! engine, the store and back out. Everything that looks at an item looks at the bytes through
//! [`ItemRef`] and [`ValueRef`], which borrow and never copy. The encoding is canonical, so two equal
//! values have equal bytes.
//!
//! Knows nothing of JSON, I/O, async or the clock.

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
pub use view::{Entries, ItemRef, ListRef, MapRef, ScalarType, SetRef, ValueRef};
