//! The whole path of a request, in order:
//!
//! ```text
//! bytes → body (16 MiB, gzip) → content type → target and JSON → signature → typed request
//!       → engine → typed response → JSON → checksum, request id, gzip → bytes
//! ```

use crate::access::Reach;
use crate::body::{self, BodyError};
use crate::cross_origin;
use crate::panic_guard::guard;
use crate::reply::{self, Reply};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use partita_api::{Exception, ExceptionKind, Operation};
use partita_auth::{Authentication, SignedRequest};
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_store::Store;
use partita_wire::Rejection;

const TARGET: &str = "x-amz-target";
const TARGET_PREFIX: &str = "DynamoDB_20120810.";
const JSON_TYPES: [&str; 2] = ["application/x-amz-json-1.0", "application/json"];

/// What every request needs.
pub struct Pipeline<S> {
    pub engine: Engine<S>,
    pub authentication: Authentication,
    pub reach: Reach,
    pub clock: Clock,
    pub region: String,
}

impl<S: Store> Pipeline<S> {
    /// Answers one HTTP request, whatever it is.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, incoming) = request.into_parts();
        let from_page = parts.headers.contains_key(ORIGIN) && self.reach.check(&parts.headers).is_ok();
        let mut response = match from_page && cross_origin::is_question(&parts) {
            true => cross_origin::answer_question(&parts.headers, reply::empty()),
            false => self.answer_client(&parts, incoming).await,
        };
        if from_page {
            cross_origin::allow(&mut response);
        }
        response
    }

    async fn answer_client(&self, parts: &Parts, incoming: Incoming) -> Response<Full<Bytes>> {
        if parts.method == Method::GET && parts.uri.path() == "/" {
            return reply::health(&self.region);
        }
        let content_type = json_type(&parts.headers);
        let body = match body::read(&parts.headers, incoming).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => return reply::last(StatusCode::PAYLOAD_TOO_LARGE),
            Err(BodyError::Stalled) => return reply::last(StatusCode::REQUEST_TIMEOUT),
            Err(BodyError::Broken) => return reply::last(StatusCode::BAD_REQUEST),
            Err(BodyError::Undecodable) => {
                let exception = Exception::serialization("The request body could not be decompressed");
                return Reply::new(Err(exception)).encode(content_type, false);
            }
        };
        if parts.method != Method::POST || (content_type.is_none() && !body.is_empty()) {
            return reply::unknown();
        }
        let signed = SignedRequest {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            headers: &parts.headers,
            body: &body.as_sent,
        };
        let outcome = guard(self.run(&signed, &body.decoded))
            .await
            .unwrap_or_else(|| Err(Exception::internal("Internal server error")));
        Reply::new(outcome).encode(content_type, wants_gzip(&parts.headers))
    }

    /// From a body to the JSON of an answer.
    async fn run(&self, signed: &SignedRequest<'_>, body: &[u8]) -> Result<Vec<u8>, Exception> {
        let Some(operation) = operation(signed.headers) else { return Err(unknown_operation(body)) };
        let decoded = match partita_wire::decode(operation, body) {
            Err(Rejection::Malformed(exception)) => return Err(exception),
            decoded => decoded,
        };
        self.check_access(signed)?;
        let request =
            decoded.map_err(|(Rejection::Invalid(exception) | Rejection::Malformed(exception))| exception)?;
        let response = self.engine.execute(request).await?;
        Ok(partita_wire::encode(&response))
    }

    fn check_access(&self, signed: &SignedRequest<'_>) -> Result<(), Exception> {
        self.authentication.check(signed, self.clock.now_seconds())?;
        self.reach.check(signed.headers)
    }
}

fn json_type(headers: &HeaderMap) -> Option<&'static str> {
    let sent = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let sent = sent.split(';').next().unwrap_or_default().trim();
    JSON_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(sent))
}

fn operation(headers: &HeaderMap) -> Option<Operation> {
    let target = headers.get(TARGET)?.to_str().ok()?;
    Operation::from_name(target.strip_prefix(TARGET_PREFIX)?)
}

/// Even for an unknown operation, what is no JSON is refused for that.
fn unknown_operation(body: &[u8]) -> Exception {
    if !body.is_empty() && !partita_wire::is_json(body) {
        return Exception::new(ExceptionKind::SerializationException, "");
    }
    Exception::new(ExceptionKind::UnknownOperationException, "")
}

fn wants_gzip(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next() == Some("gzip") && parts.next() != Some("q=0")
        })
    })
}

/// The status of an exception.
pub fn status(exception: &Exception) -> StatusCode {
    StatusCode::from_u16(exception.kind.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
}
