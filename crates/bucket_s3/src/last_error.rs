//! What went wrong at the endpoint, in S3's own words: `NoSuchBucket` becomes the failure code `S3NoSuchBucket`.

use hyper::StatusCode;
use object_store::client::{HttpError, HttpErrorKind};
use partita_api::exchange::ExchangeFailure;
use std::sync::{Mutex, PoisonError};

const LONGEST_CODE: usize = 64;
const LONGEST_MESSAGE: usize = 300;

/// What the last answer from a bucket complained about. `object_store` tells it in its messages only.
#[derive(Debug, Default)]
pub struct Trouble(Mutex<Option<Complaint>>);

#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    code: String,
    message: String,
}

impl Complaint {
    fn new(code: &str, message: &str) -> Complaint {
        Complaint { code: code.to_owned(), message: message.to_owned() }
    }
}

impl Trouble {
    fn set(&self, complaint: Option<Complaint>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = complaint;
    }

    fn take(&self) -> Option<Complaint> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn note_answer(&self, status: StatusCode, body: &[u8]) {
        self.set((!status.is_success()).then(|| complaint(status, &String::from_utf8_lossy(body))));
    }

    pub fn note_silence(&self, error: &HttpError) {
        self.set(Some(match error.kind() {
            HttpErrorKind::Timeout => {
                Complaint::new("RequestTimeout", "The endpoint did not answer in time.")
            }
            HttpErrorKind::Connect => Complaint::new("ServiceUnavailable", "The endpoint cannot be reached."),
            _ => Complaint::new("ServiceUnavailable", "The connection to the endpoint broke."),
        }));
    }

    /// A failure as the client is told it; the log has the rest.
    pub fn failure(&self, key: &str, error: &object_store::Error) -> ExchangeFailure {
        tracing::warn!(key, %error, "an object at the S3 endpoint cannot be read or written");
        let complaint = self.take().unwrap_or_else(|| match error {
            object_store::Error::InvalidPath { .. } => {
                Complaint::new("InvalidKey", "The endpoint's keys cannot have such parts.")
            }
            _ => Complaint::new("AccessFailed", "The endpoint gave an answer that is not understood."),
        });
        let message = match complaint.code.as_str() {
            "NoSuchBucket" => complaint.message,
            _ => format!("{key}: {}", complaint.message),
        };
        ExchangeFailure { code: format!("S3{}", complaint.code), message }
    }
}

/// What the body says, or else what the status means: an answer to HEAD has no body.
fn complaint(status: StatusCode, body: &str) -> Complaint {
    let code = element(body, "Code").filter(|code| {
        (1..=LONGEST_CODE).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let message = element(body, "Message").map(|message| {
        let printable = message.chars().filter(|letter| !letter.is_control());
        printable.take(LONGEST_MESSAGE).collect::<String>()
    });
    let (usual_code, usual_message) = usual(status);
    Complaint::new(code.unwrap_or(usual_code), message.as_deref().unwrap_or(usual_message))
}

fn usual(status: StatusCode) -> (&'static str, &'static str) {
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

/// The text of the first element of a name. Elements of an error have no attributes.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, body: &str) -> (String, String) {
        let trouble = Trouble::default();
        trouble.note_answer(StatusCode::from_u16(status).unwrap_or_default(), body.as_bytes());
        let error =
            object_store::Error::NotImplemented { operation: String::new(), implementer: String::new() };
        let failure = trouble.failure("a/b", &error);
        (failure.code, failure.message)
    }

    #[test]
    fn errors_keep_the_names_that_s3_gives_them() {
        let body = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>The specified bucket does not \
                    exist</Message></Error>";
        let pair = |code: &str, message: &str| (code.to_owned(), message.to_owned());
        assert_eq!(told(404, body), pair("S3NoSuchBucket", "The specified bucket does not exist"));
        let denied = "<Error><Code>AccessDenied</Code><Message>Access\nDenied</Message></Error>";
        assert_eq!(told(403, denied), pair("S3AccessDenied", "a/b: AccessDenied"));
        assert_eq!(told(404, ""), pair("S3NoSuchKey", "a/b: The specified key does not exist."));
        assert_eq!(told(500, "<Code>no code</Code>").0, "S3InternalError");
        assert_eq!(told(200, body).0, "S3AccessFailed");
    }
}
