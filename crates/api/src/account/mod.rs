//! Operations that are not about a table: the account and the endpoint.

crate::operation_modules!(account);
