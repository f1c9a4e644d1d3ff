//! Answers as HTTP: status, headers, checksum, compression.

use crate::content_coding::Coding;
use crate::http_date;
use crate::pipeline::status;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Response, StatusCode};
use partita_api::Exception;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Smaller answers are not compressed.
const COMPRESSED_FROM_BYTES: usize = 4_096;
/// The type of answers to requests that named none.
const DEFAULT_TYPE: &str = "application/json";

/// Room before a body for the head of its answer, which is shorter.
pub const HEAD_ROOM: usize = 512;

/// An answer in JSON.
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    coding: Option<&'static str>,
    /// The body, behind [`HEAD_ROOM`] bytes.
    bytes: Vec<u8>,
}

impl Reply {
    /// Of an outcome's JSON behind [`HEAD_ROOM`] bytes, compressed if the client accepts it and it is worth it.
    pub fn new(
        outcome: Result<Vec<u8>, Exception>,
        content_type: Option<&'static str>,
        accepted: Option<Coding>,
    ) -> Reply {
        let (status, plain) = match outcome {
            Ok(bytes) => (StatusCode::OK, bytes),
            Err(exception) => (status(&exception), behind_room(&partita_wire::encode_exception(&exception))),
        };
        let accepted = accepted.filter(|_| plain.len() >= HEAD_ROOM + COMPRESSED_FROM_BYTES);
        let compressed =
            accepted.and_then(|coding| Some((coding.name(), coding.encode_behind(HEAD_ROOM, &plain)?)));
        let (coding, bytes) = match compressed {
            Some((name, bytes)) => (Some(name), bytes),
            None => (None, plain),
        };
        Reply { status, content_type: content_type.unwrap_or(DEFAULT_TYPE), coding, bytes }
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
        let _ = write!(head, "\r\ncontent-length: {}\r\ndate: ", self.body().len());
        http_date::write(&mut head);
        head.extend_from_slice(b"\r\n\r\n");
        let start = HEAD_ROOM.saturating_sub(head.len());
        self.bytes[start..HEAD_ROOM].copy_from_slice(&head);
        Answer { bytes: self.bytes, start }
    }

    pub fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(self.body())));
        headers.extend(self.coding.map(|name| (CONTENT_ENCODING, HeaderValue::from_static(name))));
        *response.body_mut() = Full::new(Bytes::from(self.bytes).slice(HEAD_ROOM..));
        signed_off(response)
    }
}

/// Head and body of an answer.
pub struct Answer {
    bytes: Vec<u8>,
    start: usize,
}

impl Answer {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

pub fn behind_room(body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD_ROOM];
    bytes.extend_from_slice(body);
    bytes
}

/// The line by which load balancers and `partita healthcheck` know that all is well.
pub fn health(region: &str) -> Response<Full<Bytes>> {
    text(StatusCode::OK, format!("healthy: dynamodb.{region}.amazonaws.com "))
}

/// What AWS answers to requests that are not of its protocol at all.
pub fn unknown() -> Response<Full<Bytes>> {
    text(StatusCode::NOT_FOUND, "<UnknownOperationException/>\n".to_owned())
}

/// What a browser gets when it asks in advance.
pub fn empty() -> Response<Full<Bytes>> {
    text(StatusCode::OK, String::new())
}

/// What AWS answers to a request line or headers that are too long.
pub fn bad_request() -> Response<Full<Bytes>> {
    text(StatusCode::BAD_REQUEST, String::new())
}

/// An answer without words, after which the connection ends: the rest of a body may still be on its way.
pub fn last(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = text(status, String::new());
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response.headers_mut().insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(body.as_bytes())));
    *response.body_mut() = Full::new(Bytes::from(body));
    signed_off(response)
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
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
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

    #[test]
    fn the_longest_head_has_room_and_both_forms_say_the_same() {
        let body = behind_room(&b"compressible ".repeat(100_000));
        let kind = Some("application/x-amz-json-1.0");
        let reply = || Reply::new(Ok(body.clone()), kind, Some(Coding::Deflate));
        let answer = reply().into_http1();
        let text = answer.as_bytes();
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
