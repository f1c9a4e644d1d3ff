//! The whole path of a request, in order:
//!
//! ```text
//! bytes → body (16 MiB, within the budget) → content type → allowed host → target → signature → decompression → typed request
//!       → engine → typed response → JSON → checksum, request id, compression → bytes
//! ```
//!
//! Whatever happens before the signature is verified is linear in what was sent, and takes no more memory than that.

use crate::admin::readiness;
use crate::admin::verification::{VERIFY_PATH, Verification};
use crate::http::content_coding::{Coding, DecodeError};
use crate::http::cors::CrossOriginRequest;
use crate::http::host_policy::HostPolicy;
use crate::http::reply::{self, HEADROOM, PlainReply, Refusal, Reply};
use crate::http::request_body::{self, BodyError};
use crate::limits::budget::{Budget, Reservation, SMALL_BYTES};
use crate::limits::in_flight_reads;
use crate::limits::slow_client_timeout::SlowClientTimeout;
use crate::models::{MODEL_PATH, Models, Origin, execute_for};
use crate::panic_guard::guard;
use crate::request_log::RequestLog;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use partita_api::{Exception, ExceptionKind, Operation};
use partita_auth::{Authentication, Headers, SignedRequest};
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_engine::offload::heavy_work::{LARGE_BYTES, offload, offload_if_large};
use partita_engine::yield_now;
use partita_store::Store;
use partita_value::limits::REQUEST_BYTES;
use partita_wire::Rejection;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const TARGET: &str = "x-amz-target";
const MAINTENANCE: &str = "x-partita-maintenance";
/// The limit for the request line, and for all headers together.
pub const HEAD_BYTES: usize = 16 * 1_024;
const JSON_TYPES: [&str; 2] = ["application/x-amz-json-1.0", "application/json"];
/// How much is hashed before the task yields: a few milliseconds at most.
const HASHED_BYTES: usize = 1 << 20;
/// The memory that a large request takes besides its body while it is processed, in multiples of the body.
const WORK_FACTOR: usize = 3;

/// In larger bodies the parts are counted.
const COUNTED_BYTES: usize = 1 << 20;
/// The memory that each string may take while a request is processed: names, legacy conditions and updates become structures.
const STRING_BYTES: usize = 384;
/// The memory that each table of a batch may take.
const TABLE_BYTES: usize = 480;

/// An upper estimate of the memory that a large request takes besides its body. Items stay as compact as they arrived.
fn decoded_bytes(operation: Operation, body: &[u8]) -> usize {
    let count = |byte: u8| body.iter().filter(|other| **other == byte).count();
    let parts = match operation {
        _ if body.len() <= COUNTED_BYTES => 0,
        Operation::BatchGetItem | Operation::BatchWriteItem => TABLE_BYTES * count(b'['),
        Operation::BatchExecuteStatement
        | Operation::ExecuteTransaction
        | Operation::TransactGetItems
        | Operation::TransactWriteItems => 0,
        _ => STRING_BYTES * (count(b'"') / 2),
    };
    WORK_FACTOR * body.len() + parts
}

/// Everything that requests need.
pub struct Pipeline<S> {
    pub engine: Engine<S>,
    pub authentication: Authentication,
    pub host_policy: HostPolicy,
    pub clock: Clock,
    pub region: String,
    /// Models that requests are attributed to; the engine's judge of writes.
    pub models: Arc<Models>,
    /// Where requests are recorded.
    pub request_log: Option<RequestLog>,
    pub verification: Verification,
    /// The memory that requests may use together.
    pub budget: &'static Budget,
    /// How long a client may be slower than the minimum rate.
    pub slow_client_credit: Duration,
}

impl<S: Store> Pipeline<S> {
    /// Handles one HTTP request of any kind.
    pub async fn handle(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, incoming) = request.into_parts();
        match CrossOriginRequest::new(&parts.method, &parts.headers, &self.host_policy) {
            None => self.handle_parts(&parts, incoming).await,
            Some(origin) if origin.is_allowed_preflight() => {
                origin.add_headers(PlainReply::empty().into_response())
            }
            Some(origin) => origin.add_headers(self.handle_parts(&parts, incoming).await),
        }
    }

    async fn handle_parts(&self, parts: &Parts, incoming: Incoming) -> Response<Full<Bytes>> {
        if is_head_too_long(parts) {
            return PlainReply::bad_request().into_response();
        }
        if let Some(reply) = self.probe_reply(&parts.method, parts.uri.path()) {
            return reply.into_response();
        }
        let pairs: Vec<_> =
            parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let headers = Headers::new(&pairs);
        let mut reservation = self.budget.reservation();
        if let Err(text) = self.check_hosts(parts, headers) {
            return Reply::closing(Refusal::Forbidden(text), reservation).into_response();
        }
        if announces_too_large_body(parts, &incoming) {
            return PlainReply::closing_with(StatusCode::PAYLOAD_TOO_LARGE).into_response();
        }
        let body = match request_body::read(incoming, &mut reservation, self.slow_client_timeout()).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => {
                return PlainReply::closing_with(StatusCode::PAYLOAD_TOO_LARGE).into_response();
            }
            Err(BodyError::Stalled) => {
                return PlainReply::closing_with(StatusCode::REQUEST_TIMEOUT).into_response();
            }
            Err(BodyError::Broken) => {
                return PlainReply::closing_with(StatusCode::BAD_REQUEST).into_response();
            }
            Err(BodyError::BudgetExceeded) => {
                return Reply::closing(Refusal::BudgetExceeded, self.budget.reservation()).into_response();
            }
        };
        let signed = SignedRequest {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            headers,
            body: &body,
        };
        if matches!(signed.path, MODEL_PATH | VERIFY_PATH) {
            return self.admin_reply(&parts.method, &signed).await.into_response();
        }
        let content_type = json_type(headers);
        if parts.method != Method::POST || (content_type.is_none() && !body.is_empty()) {
            return PlainReply::unknown().into_response();
        }
        self.reply(&signed, content_type).await.into_response()
    }

    /// The response to a health or readiness probe, which needs no signature.
    pub fn probe_reply(&self, method: &Method, path: &str) -> Option<PlainReply> {
        match path {
            _ if *method != Method::GET => None,
            "/" => Some(PlainReply::health(&self.region)),
            readiness::PATH => Some(readiness::reply(&self.engine.health(), self.budget)),
            _ => None,
        }
    }

    pub fn slow_client_timeout(&self) -> SlowClientTimeout {
        SlowClientTimeout::new(self.budget, self.slow_client_credit)
    }

    fn check_hosts(&self, parts: &Parts, headers: Headers<'_>) -> Result<(), String> {
        self.host_policy.check(headers)?;
        parts.uri.authority().map_or(Ok(()), |authority| self.host_policy.check_authority(authority.as_str()))
    }

    /// Runs a request whose body has arrived, if its host and origin are allowed.
    pub async fn reply_if_allowed(
        &self,
        signed: &SignedRequest<'_>,
        content_type: Option<&'static str>,
    ) -> Reply {
        match self.host_policy.check(signed.headers) {
            Ok(()) => self.reply(signed, content_type).await,
            Err(text) => {
                Reply::new(Err(Refusal::Forbidden(text)), content_type, None, self.budget.reservation())
            }
        }
    }

    /// Runs a request whose body has arrived and whose host and origin are allowed.
    async fn reply(&self, signed: &SignedRequest<'_>, content_type: Option<&'static str>) -> Reply {
        let mut reservation = self.budget.reservation();
        let outcome = guard(pin!(self.run(signed, &mut reservation)))
            .await
            .unwrap_or_else(|| Err(Exception::internal("Internal server error").into()));
        let coding = Coding::accepted(signed.headers);
        let bytes = match &outcome {
            Ok(json) if coding.is_some() => json.len(),
            Ok(_) => 0,
            Err(refusal) => refusal.item_bytes(),
        };
        let reply =
            offload_if_large(bytes, move || Reply::new(outcome, content_type, coding, reservation)).await;
        reply.unwrap_or_else(|exception| {
            Reply::new(Err(exception.into()), content_type, None, self.budget.reservation())
        })
    }

    /// From a body to the JSON of a response, after [`HEADROOM`] bytes.
    async fn run(
        &self,
        signed: &SignedRequest<'_>,
        reservation: &mut Reservation,
    ) -> Result<Vec<u8>, Refusal> {
        let Some(operation) = operation(signed.headers) else {
            return Err(unknown_operation(signed.body).into());
        };
        if let Err(refusal) = self.check_signature(signed).await {
            return Err(malformed(operation, signed).unwrap_or(refusal).into());
        }
        let body = plain_body(signed, reservation).await?;
        let origin = origin(signed.headers);
        if let Some(log) = self.request_log.as_ref().filter(|_| origin == Origin::Application) {
            log.record(self.clock.now_millis(), operation, &body);
        }
        let bytes = body.len();
        if bytes > SMALL_BYTES {
            reservation.grow_by(decoded_bytes(operation, &body))?;
        }
        let decoded = if bytes > LARGE_BYTES {
            let body = body.into_owned();
            offload(bytes, move || partita_wire::decode(operation, &body)).await?
        } else {
            partita_wire::decode(operation, &body)
        };
        let request =
            decoded.map_err(|(Rejection::Invalid(exception) | Rejection::Malformed(exception))| exception)?;
        let (request, watched) = self.models.clone().attribute(request, bytes, origin).await?;
        let is_read_only = in_flight_reads::is_read_only(&request);
        let collected_bytes = in_flight_reads::collected_bytes(&request);
        let execution = pin!(execute_for(origin, self.engine.execute(request)));
        let outcome = match is_read_only {
            true => in_flight_reads::run(collected_bytes, execution, reservation).await,
            false => execution.await.map_err(Refusal::from),
        };
        let mut response = match outcome {
            Ok(response) => response,
            Err(refusal) => {
                self.models.count_failure(watched);
                // Nothing was changed, so that the request may be repeated.
                reserve_response(2 * refusal.item_bytes(), true, reservation)?;
                return Err(refusal);
            }
        };
        self.models.measure(watched, &mut response);
        let bytes = partita_wire::total_item_size(&response);
        // The response and its JSON are in memory together until it is encoded.
        reserve_response(2 * bytes, is_read_only, reservation)?;
        let json =
            offload_if_large(bytes, move || partita_wire::encode_with_prefix(HEADROOM, &response)).await?;
        reserve_response(json.capacity(), is_read_only, reservation)?;
        Ok(json)
    }

    /// Runs a request about the server itself, for clients that may send requests.
    async fn admin_reply(&self, method: &Method, signed: &SignedRequest<'_>) -> Reply {
        let mut reservation = self.budget.reservation();
        let outcome = self.run_admin(method, signed, &mut reservation).await;
        Reply::new(outcome, Some("application/json"), None, reservation)
    }

    async fn run_admin(
        &self,
        method: &Method,
        signed: &SignedRequest<'_>,
        reservation: &mut Reservation,
    ) -> Result<Vec<u8>, Refusal> {
        if let Authentication::Verified(_) = self.authentication {
            self.check_signature(signed).await?;
        }
        let body = plain_body(signed, reservation).await?;
        let json = match signed.path {
            VERIFY_PATH => self.verification.handle(method, signed.query)?,
            _ => self.models.handle(method, signed.query, body.into_owned()).await?,
        };
        Ok(reply::with_headroom(&json))
    }

    async fn check_signature(&self, signed: &SignedRequest<'_>) -> Result<(), Exception> {
        check_signature(&self.authentication, signed, self.clock.now_seconds()).await
    }
}

/// Hashes the body in pieces and yields in between, so that others need not wait for a large one.
async fn check_signature(
    authentication: &Authentication,
    signed: &SignedRequest<'_>,
    now: u64,
) -> Result<(), Exception> {
    let Some(mut check) = authentication.begin_check(signed, now)? else { return Ok(()) };
    let mut pieces = signed.body.chunks(HASHED_BYTES);
    check.hash(pieces.next().unwrap_or_default());
    for piece in pieces {
        yield_now().await;
        check.hash(piece);
    }
    check.finish()
}

/// Reserves memory for a response. A write that is done cannot be undone because its response does not fit: only reads are
/// refused safely.
fn reserve_response(bytes: usize, is_read_only: bool, reservation: &mut Reservation) -> Result<(), Refusal> {
    match is_read_only {
        _ if bytes <= SMALL_BYTES => Ok(()),
        true => Ok(reservation.grow_to(bytes)?),
        false => reservation.grow_into_small_pieces(bytes).map_err(|_| Refusal::ResponseExceedsBudget),
    }
}

/// The decompressed body. The signature covers it as it was sent.
async fn plain_body<'a>(
    signed: &SignedRequest<'a>,
    reservation: &mut Reservation,
) -> Result<Cow<'a, [u8]>, Refusal> {
    let undecodable = || Exception::serialization("The request body could not be decompressed").into();
    match Coding::of_request(signed.headers) {
        Ok(None) => Ok(Cow::Borrowed(signed.body)),
        Ok(Some(coding)) => match coding.decode(signed.body, REQUEST_BYTES, reservation).await {
            Ok(decoded) => Ok(Cow::Owned(decoded)),
            Err(DecodeError::Undecodable) => Err(undecodable()),
            Err(DecodeError::TooLarge) => Err(Refusal::TooLarge),
            Err(DecodeError::BudgetExceeded) => Err(Refusal::BudgetExceeded),
        },
        Err(_) => Err(undecodable()),
    }
}

/// What AWS reports even if the signature is wrong: that the body is no JSON, or does not have its operation's shape. Large
/// bodies of unauthenticated clients are not parsed.
fn malformed(operation: Operation, signed: &SignedRequest<'_>) -> Option<Exception> {
    if signed.body.len() > SMALL_BYTES || !matches!(Coding::of_request(signed.headers), Ok(None)) {
        return None;
    }
    match partita_wire::decode(operation, signed.body) {
        Err(Rejection::Malformed(exception)) => Some(exception),
        _ => None,
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

/// Tools that read whole tables say so: models that enforce declared reads let them pass.
fn origin(headers: Headers<'_>) -> Origin {
    match headers.text(MAINTENANCE) {
        Some("migration") => Origin::Migration,
        Some(_) => Origin::Maintenance,
        None => Origin::Application,
    }
}

/// Even for an unknown operation, a body that is no JSON is refused for that, unless it is large.
fn unknown_operation(body: &[u8]) -> Exception {
    if body.len() <= SMALL_BYTES && is_no_json(body) {
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

/// Whether a client waits for `100 Continue` before it sends a body that would be refused.
fn announces_too_large_body(parts: &Parts, incoming: &Incoming) -> bool {
    parts.headers.contains_key(EXPECT) && incoming.size_hint().lower() > REQUEST_BYTES as u64
}

/// The HTTP status of an exception.
pub fn status(exception: &Exception) -> StatusCode {
    StatusCode::from_u16(exception.kind.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yield_counter::count_yields;
    use partita_auth::{Credential, Signer, Verifier};

    const NOW: u64 = 1_800_000_000;

    /// Checks a body whose signature is for `signed`, and counts how often that yields.
    async fn checked(signed: &[u8], sent: &[u8]) -> (Result<(), Exception>, usize) {
        let credential = Credential::new("key", "secret");
        let authentication = Authentication::Verified(Verifier::new([credential.clone()]));
        let target = "DynamoDB_20120810.ListTables";
        let headers = Signer::new(credential, "here").headers("localhost", target, signed, NOW as i64);
        let pairs: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let headers = Headers::new(&pairs);
        let request = SignedRequest { method: "POST", path: "/", query: "", headers, body: sent };
        count_yields(check_signature(&authentication, &request, NOW)).await
    }

    #[tokio::test]
    async fn hashing_a_large_body_yields() {
        let mut body = vec![b' '; 16 * HASHED_BYTES];
        assert_eq!(checked(&body, &body).await, (Ok(()), 15));
        let signed = body.clone();
        body[15 * HASHED_BYTES] = b'x';
        assert!(checked(&signed, &body).await.0.is_err());
        assert_eq!(checked(b"{}", b"{}").await, (Ok(()), 0));
        assert_eq!(checked(b"", b"").await, (Ok(()), 0));
    }
}
