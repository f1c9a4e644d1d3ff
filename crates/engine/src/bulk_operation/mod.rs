//! Bulk operations: puts read from the objects of a bucket, with a report beside them.

partita_api::operation_modules!(bulk_operation);
pub mod bulk_record;
pub mod bulk_report;
pub mod bulk_run;
pub mod bulk_step;
