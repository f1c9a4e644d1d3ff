//! What the tests of the operations share.

use crate::{Rejection, decode, encode};
use partita_api::{Exception, ExceptionKind, Operation, Request, Response};

/// The request that a valid body is.
pub(crate) fn decoded(operation: Operation, body: &str) -> Request {
    decode(operation, body.as_bytes()).unwrap_or_else(|rejection| panic!("{body}: {rejection:?}"))
}

fn invalid(operation: Operation, body: &str) -> Exception {
    match decode(operation, body.as_bytes()) {
        Err(Rejection::Invalid(exception)) => exception,
        other => panic!("{body}: {other:?}"),
    }
}

/// The text of the ValidationException that a body gets.
pub(crate) fn refusal(operation: Operation, body: &str) -> String {
    let exception = invalid(operation, body);
    assert_eq!(exception.kind, ExceptionKind::ValidationException, "{}", exception.message);
    exception.message
}

/// The text of the SerializationException that a body gets.
pub(crate) fn mismatch(operation: Operation, body: &str) -> String {
    let exception = invalid(operation, body);
    assert_eq!(exception.kind, ExceptionKind::SerializationException, "{}", exception.message);
    exception.message
}

/// The JSON of a response.
pub(crate) fn encoded(response: Response) -> String {
    String::from_utf8(encode(&response)).expect("JSON is UTF-8")
}

/// `2 validation errors detected: …; …`, each error being value, path and constraint.
pub(crate) fn errors(errors: &[(&str, &str, &str)]) -> String {
    let texts: Vec<_> = errors
        .iter()
        .map(|(value, path, constraint)| {
            format!("Value {value} at '{path}' failed to satisfy constraint: {constraint}")
        })
        .collect();
    let plural = if errors.len() == 1 { "" } else { "s" };
    format!("{} validation error{plural} detected: {}", errors.len(), texts.join("; "))
}

pub(crate) const NOT_NULL: &str = "Member must not be null";
