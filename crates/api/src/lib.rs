//! DynamoDB's operations as types. One file per operation holds its request and its response.
//!
//! A request that exists is valid in itself: its shape, its cross-field rules and its expressions were
//! checked when it was decoded. What only the table's schema or the stored data can tell is checked
//! later, by the engine. Knows nothing of HTTP or JSON.

pub mod backup;
pub mod bulk_operation;
pub mod capacity;
pub mod continuous_backups;
pub mod exception;
pub mod exchange;
pub mod export;
pub mod import;
pub mod key_schema;
pub mod messages;
pub mod operation;
pub mod reporting;
pub mod request;
pub mod restore;
pub mod sequence_number;
pub mod table;

pub mod batch_execute_statement;
pub mod batch_get_item;
pub mod batch_write_item;
pub mod cancel_bulk_operation;
pub mod create_backup;
pub mod create_table;
pub mod delete_backup;
pub mod delete_item;
pub mod delete_table;
pub mod describe_backup;
pub mod describe_bulk_operation;
pub mod describe_continuous_backups;
pub mod describe_endpoints;
pub mod describe_export;
pub mod describe_import;
pub mod describe_limits;
pub mod describe_stream;
pub mod describe_table;
pub mod describe_time_to_live;
pub mod execute_statement;
pub mod execute_transaction;
pub mod export_table_to_point_in_time;
pub mod get_item;
pub mod get_records;
pub mod get_shard_iterator;
pub mod import_table;
pub mod list_backups;
pub mod list_bulk_operations;
pub mod list_exports;
pub mod list_imports;
pub mod list_streams;
pub mod list_tables;
pub mod list_tags_of_resource;
pub mod put_item;
pub mod query;
pub mod restore_table_from_backup;
pub mod restore_table_to_point_in_time;
pub mod scan;
pub mod start_bulk_put_items;
pub mod tag_resource;
pub mod transact_get_items;
pub mod transact_write_items;
pub mod untag_resource;
pub mod update_continuous_backups;
pub mod update_item;
pub mod update_table;
pub mod update_time_to_live;

pub use exception::{Exception, ExceptionKind};
pub use operation::Operation;
pub use request::{Request, Response};
