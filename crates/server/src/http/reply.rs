//! Responses as HTTP: status, headers, checksum, compression.

use crate::clock;
use crate::http::content_coding::Coding;
use crate::http::date_header;
use crate::limits::budget::{BudgetExceeded, Reservation, SMALL_BYTES};
use crate::pipeline::status;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Response, StatusCode};
use partita_api::{Exception, ExceptionKind};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Smaller responses are not compressed.
const MIN_COMPRESSED_BYTES: usize = 4_096;
/// The content type of responses to requests that have none.
const DEFAULT_CONTENT_TYPE: &str = "application/json";

/// Space before a body for the head of its response, which is shorter.
pub const HEADROOM: usize = 512;

/// Why a request is refused.
#[derive(Debug)]
pub enum Refusal {
    Exception(Exception),
    /// The request's host or origin is not allowed.
    Forbidden(String),
    TooLarge,
    BudgetExceeded,
    /// Its response exceeds the budget, though the request may have changed something.
    ResponseExceedsBudget,
}

impl From<Exception> for Refusal {
    fn from(exception: Exception) -> Refusal {
        Refusal::Exception(exception)
    }
}

impl From<BudgetExceeded> for Refusal {
    fn from(_: BudgetExceeded) -> Refusal {
        Refusal::BudgetExceeded
    }
}

impl Refusal {
    /// The size of all items that the response contains, which determines the cost of encoding it.
    pub fn item_bytes(&self) -> usize {
        match self {
            Refusal::Exception(exception) => exception.item_bytes(),
            _ => 0,
        }
    }

    /// The status and the body of the response.
    fn into_parts(self) -> (StatusCode, Vec<u8>) {
        let exception = match self {
            Refusal::Exception(exception) => exception,
            Refusal::TooLarge => return (StatusCode::PAYLOAD_TOO_LARGE, Vec::new()),
            Refusal::Forbidden(text) => {
                let exception = Exception::new(ExceptionKind::AccessDeniedException, text);
                return (StatusCode::FORBIDDEN, partita_wire::encode_exception(&exception));
            }
            Refusal::BudgetExceeded => unavailable(),
            Refusal::ResponseExceedsBudget => Exception::internal(
                "Internal server error: not enough memory for the response; the request may have taken effect",
            ),
        };
        (status(&exception), partita_wire::encode_exception(&exception))
    }
}

fn unavailable() -> Exception {
    Exception::new(
        ExceptionKind::ServiceUnavailable,
        "The service is temporarily unable to handle the request: too many requests are running. Try again.",
    )
}

/// A response in JSON.
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    coding: Option<&'static str>,
    /// Whether the connection is closed afterwards.
    closes: bool,
    /// [`HEADROOM`] bytes, and the body.
    bytes: Vec<u8>,
    /// The memory that it takes until the client has read it.
    reservation: Reservation,
}

impl Reply {
    /// From JSON after [`HEADROOM`] bytes, compressed if the client accepts it and it is worth it.
    pub fn new(
        outcome: Result<Vec<u8>, Refusal>,
        content_type: Option<&'static str>,
        accepted: Option<Coding>,
        reservation: Reservation,
    ) -> Reply {
        let (status, plain) = match outcome {
            Ok(bytes) => (StatusCode::OK, bytes),
            Err(refusal) => {
                let (status, body) = refusal.into_parts();
                (status, with_headroom(&body))
            }
        };
        let accepted = accepted.filter(|_| plain.len() >= HEADROOM + MIN_COMPRESSED_BYTES);
        let compressed =
            accepted.and_then(|coding| Some((coding.name(), coding.encode_after(HEADROOM, &plain)?)));
        let (coding, bytes) = match compressed {
            Some((name, bytes)) => (Some(name), bytes),
            None => (None, plain),
        };
        let content_type = content_type.unwrap_or(DEFAULT_CONTENT_TYPE);
        Reply { status, content_type, coding, closes: false, bytes, reservation }.with_final_reservation()
    }

    /// A refusal after which the connection is closed: the rest of a body may still be on its way.
    pub fn closing(refusal: Refusal, reservation: Reservation) -> Reply {
        Reply { closes: true, ..Reply::new(Err(refusal), None, None, reservation) }
    }

    /// Releases what only the work needed. The request ran with a larger reservation, so this one always suffices.
    fn with_final_reservation(mut self) -> Reply {
        self.reservation.shrink_to(if self.bytes.capacity() > SMALL_BYTES {
            self.bytes.capacity()
        } else {
            0
        });
        self
    }

    pub fn is_success(&self) -> bool {
        self.status == StatusCode::OK
    }

    fn body(&self) -> &[u8] {
        &self.bytes[HEADROOM..]
    }

    /// The whole response as it is sent, in one piece.
    pub fn into_http1(mut self) -> EncodedReply {
        let mut head = Vec::with_capacity(HEADROOM);
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
        if self.closes {
            head.extend_from_slice(b"\r\nconnection: close");
        }
        let _ = write!(head, "\r\ncontent-length: {}\r\ndate: ", self.body().len());
        date_header::write(&mut head);
        head.extend_from_slice(b"\r\n\r\n");
        let start = HEADROOM.saturating_sub(head.len());
        self.bytes[start..HEADROOM].copy_from_slice(&head);
        EncodedReply { bytes: self.bytes, start, reservation: self.reservation }
    }

    pub fn into_response(mut self) -> Response<Full<Bytes>> {
        // The connection may hold it for as long as the client takes to read it.
        if self.reservation.grow_to(self.bytes.capacity()).is_err() {
            self.bytes = with_headroom(b"");
            (self.status, self.coding, self.closes) = (StatusCode::SERVICE_UNAVAILABLE, None, true);
        }
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(self.body())));
        headers.extend(self.coding.map(|name| (CONTENT_ENCODING, HeaderValue::from_static(name))));
        headers.extend(self.closes.then_some((CONNECTION, HeaderValue::from_static("close"))));
        let encoded = EncodedReply { bytes: self.bytes, start: HEADROOM, reservation: self.reservation };
        *response.body_mut() = Full::new(Bytes::from_owner(encoded));
        with_common_headers(response)
    }
}

/// The head and body of a response, with their reservation.
pub struct EncodedReply {
    bytes: Vec<u8>,
    start: usize,
    reservation: Reservation,
}

impl EncodedReply {
    /// Reserves memory for it, however small, because the client did not read it immediately.
    pub fn reserve_until_read(&mut self) -> Result<(), BudgetExceeded> {
        self.reservation.grow_to(self.bytes.capacity())
    }
}

impl AsRef<[u8]> for EncodedReply {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

pub fn with_headroom(body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADROOM];
    bytes.extend_from_slice(body);
    bytes
}

/// A short response outside of DynamoDB's protocol.
pub struct PlainReply {
    status: StatusCode,
    content_type: Option<&'static str>,
    body: String,
    closes: bool,
}

impl PlainReply {
    fn new(status: StatusCode, body: impl Into<String>) -> PlainReply {
        PlainReply { status, content_type: None, body: body.into(), closes: false }
    }

    /// The line by which load balancers recognize that the server is alive.
    pub fn health(region: &str) -> PlainReply {
        PlainReply::new(StatusCode::OK, format!("healthy: dynamodb.{region}.amazonaws.com "))
    }

    /// Whether the server accepts requests of every kind, in JSON.
    pub fn readiness(is_ready: bool, json: String) -> PlainReply {
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        PlainReply { content_type: Some(DEFAULT_CONTENT_TYPE), ..PlainReply::new(status, json) }
    }

    /// AWS's response to requests that are not of its protocol at all.
    pub fn unknown() -> PlainReply {
        PlainReply::new(StatusCode::NOT_FOUND, "<UnknownOperationException/>\n")
    }

    /// The response to a CORS preflight.
    pub fn empty() -> PlainReply {
        PlainReply::new(StatusCode::OK, "")
    }

    /// AWS's response to a request line or headers that are too long.
    pub fn bad_request() -> PlainReply {
        PlainReply::new(StatusCode::BAD_REQUEST, "")
    }

    /// An empty response after which the connection is closed: the rest of a body may still be on its way.
    pub fn closing_with(status: StatusCode) -> PlainReply {
        PlainReply::new(status, "").closing()
    }

    /// Closes the connection afterwards.
    pub fn closing(self) -> PlainReply {
        PlainReply { closes: true, ..self }
    }

    pub fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(self.body.as_bytes())));
        headers.extend(self.content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
        headers.extend(self.closes.then_some((CONNECTION, HeaderValue::from_static("close"))));
        *response.body_mut() = Full::new(Bytes::from(self.body));
        with_common_headers(response)
    }

    /// The whole response as it is sent.
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

/// Adds the headers that every response has.
fn with_common_headers(mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    response.headers_mut().insert(SERVER, HeaderValue::from_static("Server"));
    if let Ok(id) = HeaderValue::from_bytes(&request_id()) {
        response.headers_mut().insert("x-amzn-requestid", id);
    }
    response
}

/// 52 letters and digits, as AWS's: the start time of the process and a counter, mixed.
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
    fn the_longest_head_fits_and_both_forms_have_the_same_headers() {
        let body = with_headroom(&b"compressible ".repeat(100_000));
        let kind = Some("application/x-amz-json-1.0");
        let budget = Budget::new(1 << 30, || ());
        let reply = || Reply {
            closes: true,
            ..Reply::new(Ok(body.clone()), kind, Some(Coding::Deflate), budget.reservation())
        };
        let encoded = reply().into_http1();
        let text = encoded.as_ref();
        let head_length = text.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        assert!(head_length < HEADROOM - 64, "{head_length}");
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
