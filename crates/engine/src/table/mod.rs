//! Operations on tables. A table's record is kept by the [`crate::catalog`].

partita_api::operation_modules!(table);
pub mod throughput_record;
pub mod warm_throughput;
