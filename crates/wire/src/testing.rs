//! Helpers for the tests of operations.

use crate::{Rejection, decode, encode};
use partita_api::{Exception, ExceptionKind, Operation, Request, Response};

/// Defines the functions that the tests of an operation call: `decoded` for a valid body, `refused` and `mismatch` for the text of
/// the ValidationException or SerializationException of an invalid one, and `outcome` for either.
macro_rules! operation_tests {
    ($operation:ident) => {
        #[allow(dead_code, reason = "few tests need all of them")]
        fn outcome(body: &str) -> Result<$operation, partita_api::Exception> {
            match $crate::testing::decode_any(partita_api::Operation::$operation, body)? {
                partita_api::Request::$operation(request) => Ok(request),
                other => panic!("{body}: {other:?}"),
            }
        }

        #[allow(dead_code, reason = "few tests need all of them")]
        fn decoded(body: &str) -> $operation {
            outcome(body).unwrap_or_else(|exception| panic!("{body}: {exception:?}"))
        }

        #[allow(dead_code, reason = "few tests need all of them")]
        fn refused(body: &str) -> String {
            $crate::testing::refusal(partita_api::Operation::$operation, body)
        }

        #[allow(dead_code, reason = "few tests need all of them")]
        fn mismatch(body: &str) -> String {
            let exception = outcome(body).unwrap_err();
            let kind = partita_api::ExceptionKind::SerializationException;
            assert_eq!(exception.kind, kind, "{}", exception.message);
            exception.message
        }
    };
}

pub(crate) use operation_tests;

/// Decodes a body that is well-formed JSON.
pub(crate) fn decode_any(operation: Operation, body: &str) -> Result<Request, Exception> {
    decode(operation, body.as_bytes()).map_err(|rejection| match rejection {
        Rejection::Invalid(exception) => exception,
        Rejection::Malformed(_) => panic!("{body} is not JSON"),
    })
}

/// The text of the ValidationException for a body.
pub(crate) fn refusal(operation: Operation, body: &str) -> String {
    let exception = decode_any(operation, body).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::ValidationException, "{}", exception.message);
    exception.message
}

/// The JSON of a response.
pub(crate) fn encoded(response: Response) -> String {
    String::from_utf8(encode(&response)).expect("JSON is UTF-8")
}

/// The message for validation errors, each of which is a value, its path, and what the member must satisfy.
pub(crate) fn errors(errors: &[(&str, &str, &str)]) -> String {
    let texts: Vec<_> = errors
        .iter()
        .map(|(value, path, constraint)| {
            format!("Value {value} at '{path}' failed to satisfy constraint: Member must {constraint}")
        })
        .collect();
    let plural = if errors.len() == 1 { "" } else { "s" };
    format!("{} validation error{plural} detected: {}", errors.len(), texts.join("; "))
}

pub(crate) const NOT_NULL: &str = "not be null";
