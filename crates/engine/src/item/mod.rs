//! Operations on items, one file each, and what several of them share.
//!
//! A read turns its request into stored keys or key ranges and reads them through [`crate::read`]. A write becomes one or
//! more [`ItemWrite`](crate::write::ItemWrite)s ([`planned_write`]), which [`crate::write`] executes.

partita_api::operation_modules!(item);
pub mod cancellation;
pub mod planned_write;
pub mod point_read;
pub mod transaction_read;
pub mod transaction_write;
