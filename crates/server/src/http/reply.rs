//! Answers as HTTP: status, headers, checksum, compression.

use crate::clock;
use crate::http::content_coding::Coding;
use crate::http::date_header;
use crate::limits::budget::{NoRoom, SMALL_BYTES, Share};
use crate::pipeline::status;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Response, StatusCode};
use partita_api::{Exception, ExceptionKind};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Smaller answers are not compressed.
const COMPRESSED_FROM_BYTES: usize = 4_096;
/// The type of answers to requests that named none.
const DEFAULT_TYPE: &str = "application/json";

/// Room before a body for the head of its answer, which is shorter.
pub const HEAD_ROOM: usize = 512;

/// Why a request gets no answer of its own.
#[derive(Debug)]
pub enum Refusal {
    Exception(Exception),
    /// It is not for pages or names like this one.
    Forbidden(String),
    TooLarge,
    /// The memory that requests may take is taken.
    NoRoom,
    /// There is no room for its answer, though it may have changed something.
    NoRoomToSay,
}

impl From<Exception> for Refusal {
    fn from(exception: Exception) -> Refusal {
        Refusal::Exception(exception)
    }
}

impl From<NoRoom> for Refusal {
    fn from(_: NoRoom) -> Refusal {
        Refusal::NoRoom
    }
}

impl Refusal {
    /// The bytes of all items it shows: what writing it costs.
    pub fn item_bytes(&self) -> usize {
        match self {
            Refusal::Exception(exception) => exception.item_bytes(),
            _ => 0,
        }
    }

    /// The status and the text of its answer.
    fn told(self) -> (StatusCode, Vec<u8>) {
        let exception = match self {
            Refusal::Exception(exception) => exception,
            Refusal::TooLarge => return (StatusCode::PAYLOAD_TOO_LARGE, Vec::new()),
            Refusal::Forbidden(text) => {
                let exception = Exception::new(ExceptionKind::AccessDeniedException, text);
                return (StatusCode::FORBIDDEN, partita_wire::encode_exception(&exception));
            }
            Refusal::NoRoom => unavailable(),
            Refusal::NoRoomToSay => Exception::internal(
                "Internal server error: there is no memory left for this answer; what was asked may have been done",
            ),
        };
        (status(&exception), partita_wire::encode_exception(&exception))
    }
}

fn unavailable() -> Exception {
    Exception::new(
        ExceptionKind::ServiceUnavailable,
        "The service is temporarily unable to handle the request: too much is under way. Try again.",
    )
}

/// An answer in JSON.
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    coding: Option<&'static str>,
    /// Whether the connection ends with it.
    is_last: bool,
    /// The body, behind [`HEAD_ROOM`] bytes.
    bytes: Vec<u8>,
    /// What it takes of the budget until it is read.
    share: Share,
}

impl Reply {
    /// Of an outcome's JSON behind [`HEAD_ROOM`] bytes, compressed if the client accepts it and it is worth it.
    pub fn new(
        outcome: Result<Vec<u8>, Refusal>,
        content_type: Option<&'static str>,
        accepted: Option<Coding>,
        share: Share,
    ) -> Reply {
        let (status, plain) = match outcome {
            Ok(bytes) => (StatusCode::OK, bytes),
            Err(refusal) => {
                let (status, body) = refusal.told();
                (status, behind_room(&body))
            }
        };
        let accepted = accepted.filter(|_| plain.len() >= HEAD_ROOM + COMPRESSED_FROM_BYTES);
        let compressed =
            accepted.and_then(|coding| Some((coding.name(), coding.encode_behind(HEAD_ROOM, &plain)?)));
        let (coding, bytes) = match compressed {
            Some((name, bytes)) => (Some(name), bytes),
            None => (None, plain),
        };
        let content_type = content_type.unwrap_or(DEFAULT_TYPE);
        Reply { status, content_type, coding, is_last: false, bytes, share }.within_its_share()
    }

    /// The answer to a client that is turned away, after which the connection ends: the rest of a body may still be on its way.
    pub fn last(refusal: Refusal, share: Share) -> Reply {
        Reply { is_last: true, ..Reply::new(Err(refusal), None, None, share) }
    }

    /// Gives back what the work took and it does not. What was asked was done with so much room, so that there is as much.
    fn within_its_share(mut self) -> Reply {
        self.share.shrink_to(if self.bytes.capacity() > SMALL_BYTES { self.bytes.capacity() } else { 0 });
        self
    }

    pub fn is_success(&self) -> bool {
        self.status == StatusCode::OK
    }

    fn body(&self) -> &[u8] {
        &self.bytes[HEAD_ROOM..]
    }

    /// The whole answer as it is sent, in one piece.
    pub fn into_http1(mut self) -> Answer {
        let mut head = Vec::with_capacity(HEAD_ROOM);
        let checksum = crc32fast::hash(self.body());
        // Writing to memory does not fail.
        let _ = write!(
            head,
            "HTTP/1.1 {}\r\ncontent-type: {}\r\nx-amz-crc32: {checksum}\r\nserver: Server\r\nx-amzn-requestid: ",
            self.status, self.content_type
        );
        head.extend_from_slice(&request_id());
        if let Some(coding) = self.coding {
            let _ = write!(head, "\r\ncontent-encoding: {coding}");
        }
        if self.is_last {
            head.extend_from_slice(b"\r\nconnection: close");
        }
        let _ = write!(head, "\r\ncontent-length: {}\r\ndate: ", self.body().len());
        date_header::write(&mut head);
        head.extend_from_slice(b"\r\n\r\n");
        let start = HEAD_ROOM.saturating_sub(head.len());
        self.bytes[start..HEAD_ROOM].copy_from_slice(&head);
        Answer { bytes: self.bytes, start, share: self.share }
    }

    pub fn into_response(mut self) -> Response<Full<Bytes>> {
        // Its connection may hold it for as long as the client likes.
        if self.share.grow_to(self.bytes.capacity()).is_err() {
            self.bytes = behind_room(b"");
            (self.status, self.coding, self.is_last) = (StatusCode::SERVICE_UNAVAILABLE, None, true);
        }
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(self.body())));
        headers.extend(self.coding.map(|name| (CONTENT_ENCODING, HeaderValue::from_static(name))));
        headers.extend(self.is_last.then_some((CONNECTION, HeaderValue::from_static("close"))));
        let answer = Answer { bytes: self.bytes, start: HEAD_ROOM, share: self.share };
        *response.body_mut() = Full::new(Bytes::from_owner(answer));
        signed_off(response)
    }
}

/// Head and body of an answer, with their share of the budget.
pub struct Answer {
    bytes: Vec<u8>,
    start: usize,
    share: Share,
}

impl Answer {
    /// The client did not take it at once: from now on it counts, however small.
    pub fn waits(&mut self) -> Result<(), NoRoom> {
        self.share.grow_to(self.bytes.capacity())
    }
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

pub fn behind_room(body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD_ROOM];
    bytes.extend_from_slice(body);
    bytes
}

/// A short answer outside of DynamoDB's protocol.
pub struct Notice {
    status: StatusCode,
    content_type: Option<&'static str>,
    body: String,
    is_last: bool,
}

impl Notice {
    fn new(status: StatusCode, body: impl Into<String>) -> Notice {
        Notice { status, content_type: None, body: body.into(), is_last: false }
    }

    /// The line by which load balancers know that the server answers.
    pub fn health(region: &str) -> Notice {
        Notice::new(StatusCode::OK, format!("healthy: dynamodb.{region}.amazonaws.com "))
    }

    /// Whether the server is ready for everything, in JSON.
    pub fn readiness(is_ready: bool, json: String) -> Notice {
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Notice { content_type: Some(DEFAULT_TYPE), ..Notice::new(status, json) }
    }

    /// What AWS answers to requests that are not of its protocol at all.
    pub fn unknown() -> Notice {
        Notice::new(StatusCode::NOT_FOUND, "<UnknownOperationException/>\n")
    }

    /// What a browser gets when it asks in advance.
    pub fn empty() -> Notice {
        Notice::new(StatusCode::OK, "")
    }

    /// What AWS answers to a request line or headers that are too long.
    pub fn bad_request() -> Notice {
        Notice::new(StatusCode::BAD_REQUEST, "")
    }

    /// An answer without words, after which the connection ends: the rest of a body may still be on its way.
    pub fn last(status: StatusCode) -> Notice {
        Notice::new(status, "").and_no_more()
    }

    /// The connection ends with it.
    pub fn and_no_more(self) -> Notice {
        Notice { is_last: true, ..self }
    }

    pub fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(self.body.as_bytes())));
        headers.extend(self.content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
        headers.extend(self.is_last.then_some((CONNECTION, HeaderValue::from_static("close"))));
        *response.body_mut() = Full::new(Bytes::from(self.body));
        signed_off(response)
    }

    /// The whole answer as it is sent.
    pub fn into_http1(self) -> Vec<u8> {
        let body = self.body.clone();
        let mut bytes =
            format!("HTTP/1.1 {}\r\ncontent-length: {}\r\n", self.status, body.len()).into_bytes();
        for (name, value) in self.into_response().headers() {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"date: ");
        date_header::write(&mut bytes);
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes.extend_from_slice(body.as_bytes());
        bytes
    }
}

/// The headers of every answer.
fn signed_off(mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    response.headers_mut().insert(SERVER, HeaderValue::from_static("Server"));
    if let Ok(id) = HeaderValue::from_bytes(&request_id()) {
        response.headers_mut().insert("x-amzn-requestid", id);
    }
    response
}

/// 52 letters and digits, as AWS's: the start of the process, a count, and both mixed.
fn request_id() -> [u8; 52] {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
        clock::system_now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
    });
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
    let mut state = *START ^ COUNT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut id = [0; 52];
    for digits in id.chunks_mut(13) {
        // SplitMix64: each step gives 64 well-mixed bits, five of which make a digit.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        for digit in digits {
            *digit = DIGITS[(bits & 31) as usize];
            bits >>= 5;
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::budget::Budget;

    #[test]
    fn the_longest_head_has_room_and_both_forms_say_the_same() {
        let body = behind_room(&b"compressible ".repeat(100_000));
        let kind = Some("application/x-amz-json-1.0");
        let budget = Budget::new(1 << 30, || ());
        let reply = || Reply {
            is_last: true,
            ..Reply::new(Ok(body.clone()), kind, Some(Coding::Deflate), budget.share())
        };
        let answer = reply().into_http1();
        let text = answer.as_ref();
        let head_length = text.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        assert!(head_length < HEAD_ROOM - 64, "{head_length}");
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut parsed = httparse::Response::new(&mut headers);
        assert_eq!(parsed.parse(text), Ok(httparse::Status::Complete(head_length)));
        assert_eq!(parsed.code, Some(200));
        let response = reply().into_response();
        for header in
            parsed.headers.iter().filter(|header| !["x-amzn-requestid", "date"].contains(&header.name))
        {
            match header.name {
                "content-length" => {
                    assert_eq!(header.value, (text.len() - head_length).to_string().as_bytes())
                }
                name => assert_eq!(header.value, response.headers()[name].as_bytes(), "{name}"),
            }
        }
        assert_eq!(parsed.headers.len(), response.headers().len() + 2);
    }
}
