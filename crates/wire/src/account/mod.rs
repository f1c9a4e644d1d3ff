//! The account and the endpoint.

partita_api::operation_modules!(account);
