//! Errors of the endpoint, with S3's own codes: `NoSuchBucket` becomes the failure code `S3NoSuchBucket`.

use hyper::StatusCode;
use object_store::client::{HttpError, HttpErrorKind};
use partita_api::exchange::ExchangeFailure;
use std::sync::{Mutex, PoisonError};

const MAX_CODE_LENGTH: usize = 64;
const MAX_MESSAGE_LENGTH: usize = 300;

/// The last error of a bucket. `object_store` has it only in its messages.
#[derive(Debug, Default)]
pub struct LastError(Mutex<Option<S3Error>>);

#[derive(Debug, PartialEq, Eq)]
struct S3Error {
    code: String,
    message: String,
}

impl S3Error {
    fn new(code: &str, message: &str) -> S3Error {
        S3Error { code: code.to_owned(), message: message.to_owned() }
    }
}

impl LastError {
    fn set(&self, error: Option<S3Error>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    fn take(&self) -> Option<S3Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn record_response(&self, status: StatusCode, body: &[u8]) {
        self.set((!status.is_success()).then(|| parse_error(status, &String::from_utf8_lossy(body))));
    }

    pub fn record_transport_error(&self, error: &HttpError) {
        self.set(Some(match error.kind() {
            HttpErrorKind::Timeout => S3Error::new("RequestTimeout", "The endpoint did not answer in time."),
            HttpErrorKind::Connect => S3Error::new("ServiceUnavailable", "The endpoint cannot be reached."),
            _ => S3Error::new("ServiceUnavailable", "The connection to the endpoint broke."),
        }));
    }

    /// Converts the error to a failure for the client; the details are logged.
    pub fn failure(&self, key: &str, error: &object_store::Error) -> ExchangeFailure {
        tracing::warn!(key, %error, "an object at the S3 endpoint cannot be read or written");
        let error = self.take().unwrap_or_else(|| match error {
            object_store::Error::InvalidPath { .. } => {
                S3Error::new("InvalidKey", "The endpoint's keys cannot have such parts.")
            }
            _ => S3Error::new("AccessFailed", "The endpoint sent a response that cannot be understood."),
        });
        let message = match error.code.as_str() {
            "NoSuchBucket" => error.message,
            _ => format!("{key}: {}", error.message),
        };
        ExchangeFailure { code: format!("S3{}", error.code), message }
    }
}

/// Reads the error from the body, or else from the status: a response to HEAD has no body.
fn parse_error(status: StatusCode, body: &str) -> S3Error {
    let code = element(body, "Code").filter(|code| {
        (1..=MAX_CODE_LENGTH).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let message = element(body, "Message").map(|message| {
        let printable = message.chars().filter(|letter| !letter.is_control());
        printable.take(MAX_MESSAGE_LENGTH).collect::<String>()
    });
    let (default_code, default_message) = default_error(status);
    S3Error::new(code.unwrap_or(default_code), message.as_deref().unwrap_or(default_message))
}

fn default_error(status: StatusCode) -> (&'static str, &'static str) {
    match status {
        StatusCode::NOT_FOUND => ("NoSuchKey", "The specified key does not exist."),
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => ("AccessDenied", "Access Denied"),
        StatusCode::PRECONDITION_FAILED => ("PreconditionFailed", "The object was changed meanwhile."),
        StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT => {
            ("PermanentRedirect", "The bucket is in another region.")
        }
        StatusCode::TOO_MANY_REQUESTS => ("SlowDown", "Please reduce your request rate."),
        StatusCode::SERVICE_UNAVAILABLE => ("ServiceUnavailable", "Service is unable to handle request."),
        status if status.is_server_error() => {
            ("InternalError", "The endpoint encountered an internal error.")
        }
        _ => ("InvalidRequest", "The endpoint refused the request."),
    }
}

/// The text of the first element with a name. Elements of an error have no attributes.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(status: u16, body: &str) -> (String, String) {
        let last_error = LastError::default();
        last_error.record_response(StatusCode::from_u16(status).unwrap_or_default(), body.as_bytes());
        let error =
            object_store::Error::NotImplemented { operation: String::new(), implementer: String::new() };
        let failure = last_error.failure("a/b", &error);
        (failure.code, failure.message)
    }

    #[test]
    fn errors_keep_the_codes_of_s3() {
        let body = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>The specified bucket does not \
                    exist</Message></Error>";
        let pair = |code: &str, message: &str| (code.to_owned(), message.to_owned());
        assert_eq!(failure(404, body), pair("S3NoSuchBucket", "The specified bucket does not exist"));
        let denied = "<Error><Code>AccessDenied</Code><Message>Access\nDenied</Message></Error>";
        assert_eq!(failure(403, denied), pair("S3AccessDenied", "a/b: AccessDenied"));
        assert_eq!(failure(404, ""), pair("S3NoSuchKey", "a/b: The specified key does not exist."));
        assert_eq!(failure(500, "<Code>no code</Code>").0, "S3InternalError");
        assert_eq!(failure(200, body).0, "S3AccessFailed");
    }
}
