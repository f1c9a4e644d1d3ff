//! DynamoDB JSON: the only crate of the server that reads or writes it.
//!
//! A request body becomes a typed request in one pass:
//!
//! 1. The pull reader of [`json`] yields one JSON token at a time; no tree is built.
//! 2. The operation's file (`put_item.rs`, …) reads its members; a wrong JSON type is a `SerializationException`. Attribute
//!    values are encoded while they are read ([`attribute_value`]).
//! 3. [`validation`] checks each member against the service model and reports all failures together.
//! 4. The operation's file checks the rules between members, in AWS's order.
//! 5. Expressions are parsed ([`item::expressions`]), legacy parameters are lowered to the same types ([`item::legacy`]), and
//!    unused placeholders are refused.
//!
//! A response is written directly into one buffer, items from their encoded bytes.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod attribute_value;
mod encryption;
mod exception;
mod item_json;
mod json;
mod members;
mod reporting;
#[cfg(test)]
mod testing;
mod validation;

mod account;
mod backup;
mod bulk_operation;
mod exchange;
mod export;
mod import;
mod item;
mod statement;
mod stream;
mod table;
mod tag;
mod time_to_live;

pub use exception::encode_exception;
pub use exchange::change_line::{ChangeLine, encode_change_line};
pub use exchange::item_line::{
    FailedPut, PutLine, condition_of_members, decode_put_line, encode_failed_put, encode_item_line,
};
pub use export::export_filter::{ExportFilter, decode_export_filter};

use json::{Reader, Writer};
use partita_api::stream::get_records::ChangeRecord;
use partita_api::{Exception, ExceptionKind, Operation, Request, Response};
use partita_value::Item;

/// Why a body is not a valid request.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// Not JSON: reported before authentication.
    Malformed(Exception),
    /// Wrong JSON types, failed validation or bad expressions: reported after authentication.
    Invalid(Exception),
}

/// Decodes and validates the request body of an operation.
pub fn decode(operation: Operation, body: &[u8]) -> Result<Request, Rejection> {
    decode_operation(operation, body).map_err(|exception| {
        // A wrong type ends the reading early. If the rest of the body is not JSON, that is reported instead.
        let is_malformed = !body.is_empty() && !is_json(body);
        if exception.kind == ExceptionKind::SerializationException && is_malformed {
            Rejection::Malformed(Exception::serialization(""))
        } else {
            Rejection::Invalid(exception)
        }
    })
}

macro_rules! dispatch {
    ($($folder:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        fn decode_operation(operation: Operation, body: &[u8]) -> Result<Request, Exception> {
            let decode = match operation {
                $(Operation::$name => $folder::$module::decode),*
            };
            decode(Reader::new(body)?)
        }

        fn encode_operation(response: &Response, json: &mut Writer) {
            match response {
                $(Response::$name(output) => $folder::$module::encode(output, json)),*
            }
        }
    };
}

partita_api::operations! { [dispatch] }

/// Returns whether a body is well-formed JSON, of any type.
pub fn is_json(body: &[u8]) -> bool {
    let read = || {
        let mut reader = Reader::new(body)?;
        reader.skip()?;
        reader.end()
    };
    read().is_ok()
}

/// The total size of the items in a response: an estimate of the cost of encoding it.
pub fn total_item_size(response: &Response) -> usize {
    let sum = |items: &mut dyn Iterator<Item = &Item>| items.map(Item::size).sum();
    match response {
        Response::BatchExecuteStatement(output) => {
            let items = output.responses.iter().filter_map(|response| response.item.as_ref());
            let errors = output.responses.iter().filter_map(|response| response.error.as_ref());
            items.map(Item::size).sum::<usize>() + errors.map(Exception::item_bytes).sum::<usize>()
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

/// Encodes the body of a response.
pub fn encode(response: &Response) -> Vec<u8> {
    encode_with_prefix(0, response)
}

/// Encodes the body of a response after `prefix_bytes` bytes for the caller to fill, so that head and body are one allocation.
pub fn encode_with_prefix(prefix_bytes: usize, response: &Response) -> Vec<u8> {
    let mut json = Writer::with_prefix(prefix_bytes, 512);
    encode_operation(response, &mut json);
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_api::tag::tag_resource::TagResourceOutput;

    #[test]
    fn a_body_that_is_not_json_is_malformed() {
        for body in [&b"hi"[..], b"{", b"{}{}", b"\xff", br#"{"TableName":1"#, br#"{"TableName":"abc"} x"#] {
            let rejection = decode(Operation::GetItem, body).unwrap_err();
            assert_eq!(rejection, Rejection::Malformed(Exception::serialization("")));
            assert!(!is_json(body));
        }
    }

    #[test]
    fn an_empty_body_is_invalid() {
        let rejection = decode(Operation::GetItem, b"").unwrap_err();
        assert!(
            matches!(rejection, Rejection::Invalid(exception) if exception == Exception::serialization(""))
        );
        assert!(!is_json(b""));
    }

    #[test]
    fn operations_without_output_have_no_body() {
        assert!(encode(&Response::TagResource(TagResourceOutput)).is_empty());
    }

    #[test]
    fn a_body_that_is_not_a_structure_is_invalid() {
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
