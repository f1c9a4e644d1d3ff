//! Bulk operations.

partita_api::operation_modules!(bulk_operation);
