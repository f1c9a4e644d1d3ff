//! The whole path of a request, in order:
//!
//! ```text
//! bytes → body (16 MiB, within the budget) → content type → who may ask → target → signature → decompression → typed request
//!       → engine → typed response → JSON → checksum, request id, compression → bytes
//! ```
//!
//! Whatever happens before the signature is known to be right is linear in what was sent, and takes no more room than that.

use crate::admin::readiness;
use crate::admin::verification::{VERIFY_PATH, Verification};
use crate::http::content_coding::{Coding, DecodeError};
use crate::http::cors::Page;
use crate::http::host_policy::Reach;
use crate::http::reply::{self, HEAD_ROOM, Notice, Refusal, Reply};
use crate::http::request_body::{self, BodyError};
use crate::limits::budget::{Budget, SMALL_BYTES, Share};
use crate::limits::in_flight_reads;
use crate::limits::slow_client_timeout::Pace;
use crate::models::{MODEL_PATH, Models};
use crate::panic_guard::guard;
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
use partita_engine::let_others;
use partita_engine::offload::heavy_work::{LARGE_BYTES, elsewhere, weighed};
use partita_store::Store;
use partita_value::limits::REQUEST_BYTES;
use partita_wire::Rejection;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const TARGET: &str = "x-amz-target";
/// The longest request line, and the most that all headers may take.
pub const HEAD_BYTES: usize = 16 * 1_024;
const JSON_TYPES: [&str; 2] = ["application/x-amz-json-1.0", "application/json"];
/// Hashed at a time: a few milliseconds at most.
const HASHED_BYTES: usize = 1 << 20;
/// What a large request takes beside its body while it is worked on, in bodies.
const WORK_FACTOR: usize = 3;

/// Of larger bodies it is counted what they are made of.
const COUNTED_BYTES: usize = 1 << 20;
/// What each quoted word may take while a request is worked on: names, legacy conditions and updates become structures.
const WORD_BYTES: usize = 384;
/// What each table of a batch may take.
const TABLE_BYTES: usize = 480;

/// About what a large request takes beside its body while it is worked on, at most. Items stay as compact as they came.
fn decoded_bytes(operation: Operation, body: &[u8]) -> usize {
    let count = |byte: u8| body.iter().filter(|other| **other == byte).count();
    let parts = match operation {
        _ if body.len() <= COUNTED_BYTES => 0,
        Operation::BatchGetItem | Operation::BatchWriteItem => TABLE_BYTES * count(b'['),
        Operation::BatchExecuteStatement
        | Operation::ExecuteTransaction
        | Operation::TransactGetItems
        | Operation::TransactWriteItems => 0,
        _ => WORD_BYTES * (count(b'"') / 2),
    };
    WORK_FACTOR * body.len() + parts
}

/// What every request needs.
pub struct Pipeline<S> {
    pub engine: Engine<S>,
    pub authentication: Authentication,
    pub reach: Reach,
    pub clock: Clock,
    pub region: String,
    /// Models that writes are held against and requests are attributed to.
    pub models: Arc<Models>,
    pub verification: Verification,
    /// The memory that requests may take together.
    pub budget: &'static Budget,
    /// How long a client may be slower than it should.
    pub patience: Duration,
}

impl<S: Store> Pipeline<S> {
    /// Answers one HTTP request, whatever it is.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, incoming) = request.into_parts();
        match Page::of_request(&parts.method, &parts.headers, &self.reach) {
            None => self.answer_parts(&parts, incoming).await,
            Some(page) if page.asks_in_advance() => page.welcomed(Notice::empty().into_response()),
            Some(page) => page.welcomed(self.answer_parts(&parts, incoming).await),
        }
    }

    async fn answer_parts(&self, parts: &Parts, incoming: Incoming) -> Response<Full<Bytes>> {
        if is_head_too_long(parts) {
            return Notice::bad_request().into_response();
        }
        if let Some(notice) = self.notice(&parts.method, parts.uri.path()) {
            return notice.into_response();
        }
        let pairs: Vec<_> =
            parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let headers = Headers::new(&pairs);
        let mut share = self.budget.share();
        if let Err(text) = self.check_names(parts, headers) {
            return Reply::last(Refusal::Forbidden(text), share).into_response();
        }
        if waits_with_too_large_a_body(parts, &incoming) {
            return Notice::last(StatusCode::PAYLOAD_TOO_LARGE).into_response();
        }
        let body = match request_body::read(incoming, &mut share, self.pace()).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => return Notice::last(StatusCode::PAYLOAD_TOO_LARGE).into_response(),
            Err(BodyError::Stalled) => return Notice::last(StatusCode::REQUEST_TIMEOUT).into_response(),
            Err(BodyError::Broken) => return Notice::last(StatusCode::BAD_REQUEST).into_response(),
            Err(BodyError::NoRoom) => {
                return Reply::last(Refusal::NoRoom, self.budget.share()).into_response();
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
            return self.administer(&parts.method, &signed).await.into_response();
        }
        let content_type = json_type(headers);
        if parts.method != Method::POST || (content_type.is_none() && !body.is_empty()) {
            return Notice::unknown().into_response();
        }
        self.reply(&signed, content_type).await.into_response()
    }

    /// The answer to what anybody may ask who looks after the server.
    pub fn notice(&self, method: &Method, path: &str) -> Option<Notice> {
        match path {
            _ if *method != Method::GET => None,
            "/" => Some(Notice::health(&self.region)),
            readiness::PATH => Some(readiness::of(&self.engine.health(), self.budget)),
            _ => None,
        }
    }

    /// How slowly a client may send or read.
    pub fn pace(&self) -> Pace {
        Pace::new(self.budget, self.patience)
    }

    fn check_names(&self, parts: &Parts, headers: Headers<'_>) -> Result<(), String> {
        self.reach.check(headers)?;
        parts.uri.authority().map_or(Ok(()), |authority| self.reach.check_authority(authority.as_str()))
    }

    /// Answers a request whose body is here, if it is for this server.
    pub async fn reply_if_welcome(
        &self,
        signed: &SignedRequest<'_>,
        content_type: Option<&'static str>,
    ) -> Reply {
        match self.reach.check(signed.headers) {
            Ok(()) => self.reply(signed, content_type).await,
            Err(text) => Reply::new(Err(Refusal::Forbidden(text)), content_type, None, self.budget.share()),
        }
    }

    /// Answers a request whose body is here and which is for this server.
    async fn reply(&self, signed: &SignedRequest<'_>, content_type: Option<&'static str>) -> Reply {
        let mut share = self.budget.share();
        let outcome = guard(pin!(self.run(signed, &mut share)))
            .await
            .unwrap_or_else(|| Err(Exception::internal("Internal server error").into()));
        let coding = Coding::accepted(signed.headers);
        let bytes = match &outcome {
            Ok(json) if coding.is_some() => json.len(),
            Ok(_) => 0,
            Err(refusal) => refusal.item_bytes(),
        };
        let reply = weighed(bytes, move || Reply::new(outcome, content_type, coding, share)).await;
        reply.unwrap_or_else(|exception| {
            Reply::new(Err(exception.into()), content_type, None, self.budget.share())
        })
    }

    /// From a body to the JSON of an answer, behind room for its head.
    async fn run(&self, signed: &SignedRequest<'_>, share: &mut Share) -> Result<Vec<u8>, Refusal> {
        let Some(operation) = operation(signed.headers) else {
            return Err(unknown_operation(signed.body).into());
        };
        if let Err(refusal) = self.check_signature(signed).await {
            return Err(malformed(operation, signed).unwrap_or(refusal).into());
        }
        let body = plain_body(signed, share).await?;
        if body.len() > SMALL_BYTES {
            share.grow_by(decoded_bytes(operation, &body))?;
        }
        let decoded = if body.len() > LARGE_BYTES {
            let body = body.into_owned();
            elsewhere(body.len(), move || partita_wire::decode(operation, &body)).await?
        } else {
            partita_wire::decode(operation, &body)
        };
        let request =
            decoded.map_err(|(Rejection::Invalid(exception) | Rejection::Malformed(exception))| exception)?;
        let (request, under_way) = self.models.clone().hold_against(request, signed.body.len()).await?;
        let only_reads = in_flight_reads::only_reads(&request);
        let gathered_bytes = in_flight_reads::gathered_bytes(&request);
        let execution = pin!(self.engine.execute(request));
        let outcome = match only_reads {
            true => in_flight_reads::run(gathered_bytes, execution, share).await,
            false => execution.await.map_err(Refusal::from),
        };
        let mut response = match outcome {
            Ok(response) => response,
            Err(refusal) => {
                // Nothing was done, so that it may be asked again.
                count_answer(2 * refusal.item_bytes(), true, share)?;
                return Err(refusal);
            }
        };
        self.models.after(under_way, &mut response);
        let bytes = partita_wire::total_item_size(&response);
        // It and its JSON are there together, until it is its turn to be written.
        count_answer(2 * bytes, only_reads, share)?;
        let json = weighed(bytes, move || partita_wire::encode_with_prefix(HEAD_ROOM, &response)).await?;
        count_answer(json.capacity(), only_reads, share)?;
        Ok(json)
    }

    /// Answers what is about the server itself, to whoever may send requests.
    async fn administer(&self, method: &Method, signed: &SignedRequest<'_>) -> Reply {
        let mut share = self.budget.share();
        let outcome = self.administered(method, signed, &mut share).await;
        Reply::new(outcome, Some("application/json"), None, share)
    }

    async fn administered(
        &self,
        method: &Method,
        signed: &SignedRequest<'_>,
        share: &mut Share,
    ) -> Result<Vec<u8>, Refusal> {
        if let Authentication::Verified(_) = self.authentication {
            self.check_signature(signed).await?;
        }
        let body = plain_body(signed, share).await?;
        let json = match signed.path {
            VERIFY_PATH => self.verification.administer(method, signed.query)?,
            _ => self.models.administer(method, signed.query, body.into_owned()).await?,
        };
        Ok(reply::behind_room(&json))
    }

    async fn check_signature(&self, signed: &SignedRequest<'_>) -> Result<(), Exception> {
        check_signature(&self.authentication, signed, self.clock.now_seconds()).await
    }
}

/// Hashes the body in pieces: others need not wait for a large one.
async fn check_signature(
    authentication: &Authentication,
    signed: &SignedRequest<'_>,
    now: u64,
) -> Result<(), Exception> {
    let Some(mut claim) = authentication.claim(signed, now)? else { return Ok(()) };
    let mut pieces = signed.body.chunks(HASHED_BYTES);
    claim.hash(pieces.next().unwrap_or_default());
    for piece in pieces {
        let_others().await;
        claim.hash(piece);
    }
    claim.check()
}

/// Takes an answer's share. What is done cannot be taken back for want of room to say so: only reads are refused lightly.
fn count_answer(bytes: usize, only_reads: bool, share: &mut Share) -> Result<(), Refusal> {
    match only_reads {
        _ if bytes <= SMALL_BYTES => Ok(()),
        true => Ok(share.grow_to(bytes)?),
        false => share.grow_into_kept(bytes).map_err(|_| Refusal::NoRoomToSay),
    }
}

/// The body as it is meant: what was signed is as it was sent.
async fn plain_body<'a>(signed: &SignedRequest<'a>, share: &mut Share) -> Result<Cow<'a, [u8]>, Refusal> {
    let undecodable = || Exception::serialization("The request body could not be decompressed").into();
    match Coding::of_request(signed.headers) {
        Ok(None) => Ok(Cow::Borrowed(signed.body)),
        Ok(Some(coding)) => match coding.decode(signed.body, REQUEST_BYTES, share).await {
            Ok(decoded) => Ok(Cow::Owned(decoded)),
            Err(DecodeError::Undecodable) => Err(undecodable()),
            Err(DecodeError::TooLarge) => Err(Refusal::TooLarge),
            Err(DecodeError::NoRoom) => Err(Refusal::NoRoom),
        },
        Err(_) => Err(undecodable()),
    }
}

/// What AWS tells even those whose signature is wrong: that the body is no JSON, or not of its operation's shape. For strangers
/// no large body is read.
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

/// Even for an unknown operation, what is no JSON is refused for that, unless it is large.
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

/// Whether a client asks before it sends a body that would be refused.
fn waits_with_too_large_a_body(parts: &Parts, incoming: &Incoming) -> bool {
    parts.headers.contains_key(EXPECT) && incoming.size_hint().lower() > REQUEST_BYTES as u64
}

/// The status of an exception.
pub fn status(exception: &Exception) -> StatusCode {
    StatusCode::from_u16(exception.kind.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yield_counter::turns_beside;
    use partita_auth::{Credential, Signer, Verifier};

    const NOW: u64 = 1_800_000_000;

    /// What is said of a body that was signed as another, and how often others had their turn meanwhile.
    async fn checked(signed: &[u8], sent: &[u8]) -> (Result<(), Exception>, usize) {
        let credential = Credential::new("key", "secret");
        let authentication = Authentication::Verified(Verifier::new([credential.clone()]));
        let target = "DynamoDB_20120810.ListTables";
        let headers = Signer::new(credential, "here").headers("localhost", target, signed, NOW as i64);
        let pairs: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let headers = Headers::new(&pairs);
        let request = SignedRequest { method: "POST", path: "/", query: "", headers, body: sent };
        turns_beside(check_signature(&authentication, &request, NOW)).await
    }

    #[tokio::test]
    async fn large_bodies_are_hashed_in_turns() {
        let mut body = vec![b' '; 16 * HASHED_BYTES];
        assert_eq!(checked(&body, &body).await, (Ok(()), 15));
        let signed = body.clone();
        body[15 * HASHED_BYTES] = b'x';
        assert!(checked(&signed, &body).await.0.is_err());
        assert_eq!(checked(b"{}", b"{}").await, (Ok(()), 0));
        assert_eq!(checked(b"", b"").await, (Ok(()), 0));
    }
}
