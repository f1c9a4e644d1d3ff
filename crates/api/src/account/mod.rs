//! The account and the endpoint: what is not about a table.

crate::operation_modules!(account);
