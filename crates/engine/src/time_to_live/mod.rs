//! Time to live, and the expiry of items.

partita_api::operation_modules!(time_to_live);
pub mod expiry;
