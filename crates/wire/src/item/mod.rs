//! Reads and writes of items, and the expressions and legacy parameters of such requests.

partita_api::operation_modules!(item);
pub mod expressions;
pub mod item_size;
pub mod item_write;
pub mod legacy;
pub mod page_read;
pub mod request_items;
pub mod transaction;
