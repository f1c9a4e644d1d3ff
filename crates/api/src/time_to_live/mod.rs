//! Time to live: the attribute that says when an item expires.

crate::operation_modules!(time_to_live);
