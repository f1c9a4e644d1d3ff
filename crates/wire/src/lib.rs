//! DynamoDB JSON. The only crate that knows it.
//!
//! A request body becomes a typed request in one pass:
//!
//! 1. [`json`]'s reader pulls pieces of JSON out of the bytes; no tree is built.
//! 2. The operation's file (`put_item.rs`, …) takes its members as sent; a wrong JSON type is a
//!    `SerializationException`. Attribute values are encoded while they are read ([`attribute_value`]).
//! 3. [`validation`] checks each member against the service model and tells all that fail together.
//! 4. The operation's file checks the rules between members, in AWS's order.
//! 5. Expressions are parsed ([`expressions`]), legacy parameters are lowered to the same
//!    ([`legacy`]), and placeholders that nothing used are refused.
//!
//! A response is written straight into one buffer, items from their encoded bytes.

mod attribute_value;
mod backup_description;
mod change_line;
mod exception;
mod exchange;
mod export_filter;
mod expressions;
mod item_json;
mod item_line;
mod item_write;
mod json;
mod legacy;
mod page_read;
mod partiql;
mod reporting;
mod request_items;
mod restore_overrides;
mod stream_arn;
mod table_name;
#[cfg(test)]
mod testing;
mod validation;

mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
mod cancel_bulk_operation;
mod create_backup;
mod create_table;
mod delete_backup;
mod delete_item;
mod delete_table;
mod describe_backup;
mod describe_bulk_operation;
mod describe_continuous_backups;
mod describe_endpoints;
mod describe_export;
mod describe_import;
mod describe_limits;
mod describe_stream;
mod describe_table;
mod describe_time_to_live;
mod execute_statement;
mod execute_transaction;
mod export_table_to_point_in_time;
mod get_item;
mod get_records;
mod get_shard_iterator;
mod import_table;
mod list_backups;
mod list_bulk_operations;
mod list_exports;
mod list_imports;
mod list_streams;
mod list_tables;
mod list_tags_of_resource;
mod put_item;
mod query;
mod restore_table_from_backup;
mod restore_table_to_point_in_time;
mod scan;
mod start_bulk_put_items;
mod table_creation_parameters;
mod table_description;
mod table_settings;
mod tag_resource;
mod transact_get_items;
mod transact_write_items;
mod untag_resource;
mod update_continuous_backups;
mod update_item;
mod update_table;
mod update_time_to_live;

pub use change_line::{ChangeLine, encode_change_line};
pub use exception::encode_exception;
pub use export_filter::{ExportFilter, decode_export_filter};
pub use item_line::{
    FailedPut, PutLine, condition_of_members, decode_put_line, encode_failed_put, encode_item_line,
};

use json::{Reader, Writer};
use partita_api::get_records::ChangeRecord;
use partita_api::{Exception, ExceptionKind, Operation, Request, Response};
use partita_value::Item;

/// Why a body is no request.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// No JSON at all: answered before authentication.
    Malformed(Exception),
    /// Wrong JSON types, failed validation, bad expressions: answered after it.
    Invalid(Exception),
}

/// Decodes and checks a request body for an operation.
pub fn decode(operation: Operation, body: &[u8]) -> Result<Request, Rejection> {
    decode_operation(operation, body).map_err(|exception| {
        // A wrong type ends the reading early; what follows it may be no JSON, which counts first.
        let no_json = !body.is_empty() && !is_json(body);
        if exception.kind == ExceptionKind::SerializationException && no_json {
            Rejection::Malformed(Exception::serialization(""))
        } else {
            Rejection::Invalid(exception)
        }
    })
}

fn decode_operation(operation: Operation, body: &[u8]) -> Result<Request, Exception> {
    let decode = match operation {
        Operation::BatchExecuteStatement => batch_execute_statement::decode,
        Operation::BatchGetItem => batch_get_item::decode,
        Operation::BatchWriteItem => batch_write_item::decode,
        Operation::CancelBulkOperation => cancel_bulk_operation::decode,
        Operation::CreateBackup => create_backup::decode,
        Operation::CreateTable => create_table::decode,
        Operation::DeleteBackup => delete_backup::decode,
        Operation::DeleteItem => delete_item::decode,
        Operation::DeleteTable => delete_table::decode,
        Operation::DescribeBulkOperation => describe_bulk_operation::decode,
        Operation::DescribeBackup => describe_backup::decode,
        Operation::DescribeContinuousBackups => describe_continuous_backups::decode,
        Operation::DescribeEndpoints => describe_endpoints::decode,
        Operation::DescribeExport => describe_export::decode,
        Operation::DescribeImport => describe_import::decode,
        Operation::DescribeLimits => describe_limits::decode,
        Operation::DescribeStream => describe_stream::decode,
        Operation::DescribeTable => describe_table::decode,
        Operation::DescribeTimeToLive => describe_time_to_live::decode,
        Operation::ExecuteStatement => execute_statement::decode,
        Operation::ExecuteTransaction => execute_transaction::decode,
        Operation::ExportTableToPointInTime => export_table_to_point_in_time::decode,
        Operation::GetItem => get_item::decode,
        Operation::GetRecords => get_records::decode,
        Operation::GetShardIterator => get_shard_iterator::decode,
        Operation::ListBulkOperations => list_bulk_operations::decode,
        Operation::ListStreams => list_streams::decode,
        Operation::ImportTable => import_table::decode,
        Operation::ListBackups => list_backups::decode,
        Operation::ListExports => list_exports::decode,
        Operation::ListImports => list_imports::decode,
        Operation::ListTables => list_tables::decode,
        Operation::ListTagsOfResource => list_tags_of_resource::decode,
        Operation::PutItem => put_item::decode,
        Operation::Query => query::decode,
        Operation::RestoreTableFromBackup => restore_table_from_backup::decode,
        Operation::RestoreTableToPointInTime => restore_table_to_point_in_time::decode,
        Operation::Scan => scan::decode,
        Operation::StartBulkPutItems => start_bulk_put_items::decode,
        Operation::TagResource => tag_resource::decode,
        Operation::TransactGetItems => transact_get_items::decode,
        Operation::TransactWriteItems => transact_write_items::decode,
        Operation::UntagResource => untag_resource::decode,
        Operation::UpdateContinuousBackups => update_continuous_backups::decode,
        Operation::UpdateItem => update_item::decode,
        Operation::UpdateTable => update_table::decode,
        Operation::UpdateTimeToLive => update_time_to_live::decode,
    };
    decode(Reader::new(body)?)
}

/// Whether a body is well-formed JSON, whatever it says.
pub fn is_json(body: &[u8]) -> bool {
    let read = || {
        let mut reader = Reader::new(body)?;
        reader.skip()?;
        reader.end()
    };
    read().is_ok()
}

/// The bytes of all items that a response holds: what writing it costs.
pub fn item_bytes(response: &Response) -> usize {
    let sum = |items: &mut dyn Iterator<Item = &Item>| items.map(Item::size).sum();
    match response {
        Response::BatchExecuteStatement(output) => {
            let shown = output.responses.iter().filter_map(|response| response.item.as_ref());
            let errors = output.responses.iter().filter_map(|response| response.error.as_ref());
            shown.map(Item::size).sum::<usize>() + errors.map(Exception::item_bytes).sum::<usize>()
        }
        Response::DeleteItem(output) | Response::PutItem(output) | Response::UpdateItem(output) => {
            sum(&mut output.attributes.iter())
        }
        Response::GetRecords(output) => output.records.iter().map(ChangeRecord::size_bytes).sum(),
        Response::BatchGetItem(output) => sum(&mut output.responses.iter().flat_map(|table| &table.items)),
        Response::ExecuteStatement(output) => sum(&mut output.items.iter()),
        Response::ExecuteTransaction(output) => sum(&mut output.responses.iter().flatten()),
        Response::Query(output) | Response::Scan(output) => sum(&mut output.page.items.iter().flatten()),
        Response::TransactGetItems(output) => sum(&mut output.responses.iter().flatten()),
        _ => 0,
    }
}

/// The body that answers a request.
pub fn encode(response: &Response) -> Vec<u8> {
    encode_behind(0, response)
}

/// The same, behind `room` bytes that are the caller's to fill: a whole answer is then one piece of memory.
pub fn encode_behind(room: usize, response: &Response) -> Vec<u8> {
    let mut json = Writer::behind(room, 512);
    match response {
        Response::BatchExecuteStatement(output) => batch_execute_statement::encode(output, &mut json),
        Response::BatchGetItem(output) => batch_get_item::encode(output, &mut json),
        Response::BatchWriteItem(output) => batch_write_item::encode(output, &mut json),
        Response::CancelBulkOperation(output) => cancel_bulk_operation::encode(output, &mut json),
        Response::CreateBackup(output) => create_backup::encode(output, &mut json),
        Response::CreateTable(output) => create_table::encode(output, &mut json),
        Response::DeleteItem(output) | Response::PutItem(output) | Response::UpdateItem(output) => {
            put_item::encode(output, &mut json);
        }
        Response::DeleteBackup(output) => delete_backup::encode(output, &mut json),
        Response::DeleteTable(output) => delete_table::encode(output, &mut json),
        Response::DescribeBulkOperation(output) => describe_bulk_operation::encode(output, &mut json),
        Response::DescribeBackup(output) => describe_backup::encode(output, &mut json),
        Response::DescribeContinuousBackups(output) => {
            describe_continuous_backups::encode(output, &mut json);
        }
        Response::DescribeEndpoints(output) => describe_endpoints::encode(output, &mut json),
        Response::DescribeExport(output) => describe_export::encode(output, &mut json),
        Response::DescribeImport(output) => describe_import::encode(output, &mut json),
        Response::DescribeLimits(output) => describe_limits::encode(output, &mut json),
        Response::DescribeStream(output) => describe_stream::encode(output, &mut json),
        Response::DescribeTable(output) => describe_table::encode(output, &mut json),
        Response::DescribeTimeToLive(output) => describe_time_to_live::encode(output, &mut json),
        Response::ExecuteStatement(output) => execute_statement::encode(output, &mut json),
        Response::ExecuteTransaction(output) => execute_transaction::encode(output, &mut json),
        Response::ExportTableToPointInTime(output) => {
            export_table_to_point_in_time::encode(output, &mut json)
        }
        Response::GetItem(output) => get_item::encode(output, &mut json),
        Response::GetRecords(output) => get_records::encode(output, &mut json),
        Response::GetShardIterator(output) => get_shard_iterator::encode(output, &mut json),
        Response::ListBulkOperations(output) => list_bulk_operations::encode(output, &mut json),
        Response::ListStreams(output) => list_streams::encode(output, &mut json),
        Response::ImportTable(output) => import_table::encode(output, &mut json),
        Response::ListBackups(output) => list_backups::encode(output, &mut json),
        Response::ListExports(output) => list_exports::encode(output, &mut json),
        Response::ListImports(output) => list_imports::encode(output, &mut json),
        Response::ListTables(output) => list_tables::encode(output, &mut json),
        Response::ListTagsOfResource(output) => list_tags_of_resource::encode(output, &mut json),
        Response::Query(output) | Response::Scan(output) => query::encode(output, &mut json),
        Response::RestoreTableFromBackup(output) => restore_table_from_backup::encode(output, &mut json),
        Response::RestoreTableToPointInTime(output) => {
            restore_table_to_point_in_time::encode(output, &mut json);
        }
        Response::StartBulkPutItems(output) => start_bulk_put_items::encode(output, &mut json),
        // Operations that answer nothing do so without a body.
        Response::Empty => {}
        Response::TransactGetItems(output) => transact_get_items::encode(output, &mut json),
        Response::TransactWriteItems(output) => transact_write_items::encode(output, &mut json),
        Response::UpdateContinuousBackups(output) => update_continuous_backups::encode(output, &mut json),
        Response::UpdateTable(output) => update_table::encode(output, &mut json),
        Response::UpdateTimeToLive(output) => update_time_to_live::encode(output, &mut json),
    }
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_no_json_is_malformed() {
        for body in [&b"hi"[..], b"{", b"{}{}", b"\xff", br#"{"TableName":1"#, br#"{"TableName":"abc"} x"#] {
            let rejection = decode(Operation::GetItem, body).unwrap_err();
            assert_eq!(rejection, Rejection::Malformed(Exception::serialization("")));
            assert!(!is_json(body));
        }
    }

    #[test]
    fn no_body_at_all_is_invalid() {
        let rejection = decode(Operation::GetItem, b"").unwrap_err();
        assert!(
            matches!(rejection, Rejection::Invalid(exception) if exception == Exception::serialization(""))
        );
        assert!(!is_json(b""));
    }

    #[test]
    fn operations_that_answer_nothing_have_no_body() {
        assert!(encode(&Response::Empty).is_empty());
    }

    #[test]
    fn a_body_that_is_no_structure_is_invalid() {
        for (body, text) in [
            ("[]", "Start of list found where not expected"),
            ("null", "Unexpected value type in payload"),
            ("\"x\"", "Unexpected value type in payload"),
        ] {
            let rejection = decode(Operation::GetItem, body.as_bytes()).unwrap_err();
            assert_eq!(rejection, Rejection::Invalid(Exception::serialization(text)));
        }
    }
}
