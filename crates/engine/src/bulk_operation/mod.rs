//! Bulk operations: StartBulkPutItems puts the records of a bucket's objects and reports those that it could not put.
//!
//! [`bulk_step`] advances an operation, in [`bulk_run`]s of puts; [`bulk_record`] is what is stored of it, and [`bulk_report`] what it
//! writes about failed records.

partita_api::operation_modules!(bulk_operation);
pub mod bulk_description;
pub mod bulk_record;
pub mod bulk_report;
pub mod bulk_run;
pub mod bulk_step;
