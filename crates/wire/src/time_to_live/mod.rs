//! Time to live.

partita_api::operation_modules!(time_to_live);
