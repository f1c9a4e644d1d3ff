//! Operations that are not about a table: the account and the endpoint.

partita_api::operation_modules!(account);
