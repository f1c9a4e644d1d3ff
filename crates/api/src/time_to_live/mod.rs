//! Time to live: which attribute says when an item expires.

crate::operation_modules!(time_to_live);
