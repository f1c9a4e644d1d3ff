//! The account and the endpoint: what is not about a table.

partita_api::operation_modules!(account);
