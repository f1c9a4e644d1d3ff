//! Tags of tables.

crate::operation_modules!(tag);
