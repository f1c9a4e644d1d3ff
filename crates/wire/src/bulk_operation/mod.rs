//! Bulk operations.

partita_api::operation_modules!(bulk_operation);
pub mod bulk_operation_description;
