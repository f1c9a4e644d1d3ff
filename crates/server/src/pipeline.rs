//! The whole path of a request, in order:
//!
//! ```text
//! bytes → body (16 MiB, compression) → content type → target → signature → typed request
//!       → engine → typed response → JSON → checksum, request id, compression → bytes
//! ```

use crate::access::Reach;
use crate::body::{self, BodyError, RequestBody};
use crate::content_coding::Coding;
use crate::cors::Page;
use crate::models::{MODEL_PATH, Models};
use crate::panic_guard::guard;
use crate::reply::{self, HEAD_ROOM, Reply};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use partita_api::{Exception, ExceptionKind, Operation};
use partita_auth::{Authentication, Headers, SignedRequest};
use partita_engine::Engine;
use partita_engine::aside::{LARGE_BYTES, aside, weighed};
use partita_engine::clock::Clock;
use partita_store::Store;
use partita_wire::Rejection;

const TARGET: &str = "x-amz-target";
/// The longest request line, and the most that all headers may take.
pub const HEAD_BYTES: usize = 16 * 1_024;
const JSON_TYPES: [&str; 2] = ["application/x-amz-json-1.0", "application/json"];

/// What every request needs.
pub struct Pipeline<S> {
    pub engine: Engine<S>,
    pub authentication: Authentication,
    pub reach: Reach,
    pub clock: Clock,
    pub region: String,
    /// Models that writes are held against and requests are attributed to.
    pub models: Models,
}

impl<S: Store> Pipeline<S> {
    /// Answers one HTTP request, whatever it is.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, incoming) = request.into_parts();
        match Page::of_request(&parts.method, &parts.headers, &self.authentication) {
            None => self.answer_parts(&parts, incoming).await,
            Some(page) if page.asks_in_advance() => page.welcomed(reply::empty()),
            Some(page) => page.welcomed(self.answer_parts(&parts, incoming).await),
        }
    }

    async fn answer_parts(&self, parts: &Parts, incoming: Incoming) -> Response<Full<Bytes>> {
        if is_head_too_long(parts) {
            return reply::bad_request();
        }
        if parts.method == Method::GET && parts.uri.path() == "/" {
            return reply::health(&self.region);
        }
        let pairs: Vec<_> =
            parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let headers = Headers::new(&pairs);
        let content_type = json_type(headers);
        let body = match body::read(headers, incoming).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => return reply::last(StatusCode::PAYLOAD_TOO_LARGE),
            Err(BodyError::Stalled) => return reply::last(StatusCode::REQUEST_TIMEOUT),
            Err(BodyError::Broken) => return reply::last(StatusCode::BAD_REQUEST),
            Err(BodyError::Undecodable) => {
                let exception = Exception::serialization("The request body could not be decompressed");
                return Reply::new(Err(exception), content_type, None).into_response();
            }
        };
        if parts.uri.path() == MODEL_PATH {
            return self.administer_models(parts, headers, &body);
        }
        if parts.method != Method::POST || (content_type.is_none() && !body.is_empty()) {
            return reply::unknown();
        }
        let signed = SignedRequest {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            headers,
            body: &body.as_sent,
        };
        self.reply(&signed, &body.decoded, content_type).await.into_response()
    }

    /// Answers a request whose body is here, on whichever lane it came.
    pub async fn reply(
        &self,
        signed: &SignedRequest<'_>,
        body: &[u8],
        content_type: Option<&'static str>,
    ) -> Reply {
        let outcome = guard(self.run(signed, body))
            .await
            .unwrap_or_else(|| Err(Exception::internal("Internal server error")));
        let coding = Coding::accepted(signed.headers);
        let bytes = outcome.as_ref().map_or(0, |json| if coding.is_some() { json.len() } else { 0 });
        let reply = weighed(bytes, move || Reply::new(outcome, content_type, coding)).await;
        reply.unwrap_or_else(|exception| Reply::new(Err(exception), content_type, None))
    }

    /// From a body to the JSON of an answer, behind room for its head.
    async fn run(&self, signed: &SignedRequest<'_>, body: &[u8]) -> Result<Vec<u8>, Exception> {
        let Some(operation) = operation(signed.headers) else { return Err(unknown_operation(body)) };
        if let Err(refused) = self.check_access(signed) {
            // Only that a body is no JSON is told before; nothing else is looked at until it is known who asks.
            return Err(if is_no_json(body) { Exception::serialization("") } else { refused });
        }
        let decoded = if body.len() > LARGE_BYTES {
            let body = body.to_vec();
            aside(move || partita_wire::decode(operation, &body)).await?
        } else {
            partita_wire::decode(operation, body)
        };
        let mut request =
            decoded.map_err(|(Rejection::Invalid(exception) | Rejection::Malformed(exception))| exception)?;
        let under_way = self.models.before(&mut request)?;
        let mut response = self.engine.execute(request).await?;
        self.models.after(under_way, &mut response);
        let bytes = partita_wire::item_bytes(&response);
        weighed(bytes, move || partita_wire::encode_behind(HEAD_ROOM, &response)).await
    }

    /// Shows, attaches and detaches models, for whoever may send requests.
    fn administer_models(
        &self,
        parts: &Parts,
        headers: Headers<'_>,
        body: &RequestBody,
    ) -> Response<Full<Bytes>> {
        let query = parts.uri.query().unwrap_or_default();
        let signed = SignedRequest {
            method: parts.method.as_str(),
            path: MODEL_PATH,
            query,
            headers,
            body: &body.as_sent,
        };
        let allowed = match self.authentication {
            Authentication::Verified(_) => self.check_access(&signed),
            Authentication::Unverified => self.reach.check(headers),
        };
        let outcome = allowed.and_then(|()| self.models.administer(&parts.method, query, &body.decoded));
        let outcome = outcome.map(|json| reply::behind_room(&json));
        Reply::new(outcome, Some("application/json"), None).into_response()
    }

    fn check_access(&self, signed: &SignedRequest<'_>) -> Result<(), Exception> {
        self.authentication.check(signed, self.clock.now_seconds())?;
        self.reach.check(signed.headers)
    }
}

pub fn json_type(headers: Headers<'_>) -> Option<&'static str> {
    let sent = headers.text("content-type")?;
    let sent = sent.split(';').next().unwrap_or_default().trim();
    JSON_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(sent))
}

fn operation(headers: Headers<'_>) -> Option<Operation> {
    let (prefix, name) = headers.text(TARGET)?.split_once('.')?;
    Operation::from_name(name).filter(|operation| operation.target_prefix() == prefix)
}

/// Even for an unknown operation, what is no JSON is refused for that.
fn unknown_operation(body: &[u8]) -> Exception {
    if is_no_json(body) {
        return Exception::serialization("");
    }
    Exception::new(ExceptionKind::UnknownOperationException, "")
}

fn is_no_json(body: &[u8]) -> bool {
    !body.is_empty() && !partita_wire::is_json(body)
}

fn is_head_too_long(parts: &Parts) -> bool {
    let line = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers: usize = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    line > HEAD_BYTES || headers > HEAD_BYTES
}

/// The status of an exception.
pub fn status(exception: &Exception) -> StatusCode {
    StatusCode::from_u16(exception.kind.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
}
