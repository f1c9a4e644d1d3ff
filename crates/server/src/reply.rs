//! Answers as HTTP: status, headers, checksum, compression.

use crate::content_coding::Coding;
use crate::pipeline::status;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Response, StatusCode};
use partita_api::Exception;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Smaller answers are not compressed.
const COMPRESSED_FROM_BYTES: usize = 4_096;
/// The type of answers to requests that named none.
const DEFAULT_TYPE: &str = "application/json";

/// An answer in JSON.
pub struct Reply {
    status: StatusCode,
    json: Vec<u8>,
}

impl Reply {
    pub fn new(outcome: Result<Vec<u8>, Exception>) -> Reply {
        match outcome {
            Ok(json) => Reply { status: StatusCode::OK, json },
            Err(exception) => {
                Reply { status: status(&exception), json: partita_wire::encode_exception(&exception) }
            }
        }
    }

    pub fn encode(self, content_type: Option<&'static str>, coding: Option<Coding>) -> Response<Full<Bytes>> {
        let coding = coding.filter(|_| self.json.len() >= COMPRESSED_FROM_BYTES);
        let compressed = coding.and_then(|coding| Some((coding.name(), coding.encode(&self.json)?)));
        let (coding, body) = match compressed {
            Some((name, body)) => (Some(name), body),
            None => (None, self.json),
        };
        let mut response = Response::new(Full::default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type.unwrap_or(DEFAULT_TYPE)));
        headers.insert("x-amz-crc32", HeaderValue::from(crc32fast::hash(&body)));
        headers.extend(coding.map(|name| (CONTENT_ENCODING, HeaderValue::from_static(name))));
        *response.body_mut() = Full::new(Bytes::from(body));
        signed_off(response)
    }
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
