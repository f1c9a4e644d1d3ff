//! Time to live: UpdateTimeToLive selects the attribute with an item's expiry time, and [`expiry`] deletes expired items in the
//! background.

partita_api::operation_modules!(time_to_live);
pub mod expiry;
