//! Pages in browsers: what an answer must say for a browser to show it to a page of another origin.
//!
//! AWS lets every page in, as the signature is what counts. So do we, where [`Reach`](crate::Reach) does.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::*;
use hyper::http::request::Parts;
use hyper::{Method, Response};

/// How long a browser may remember an answer to its question, in seconds.
const MAX_AGE: &str = "172800";

/// Whether a browser asks if it may send a page's request.
pub fn is_question(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS && parts.headers.contains_key(ORIGIN)
}

/// Any method and all headers asked for may be sent.
pub fn answer_question(asked: &HeaderMap, mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let answers = [
        (ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_ALLOW_HEADERS),
        (ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_ALLOW_METHODS),
    ];
    for (question, answer) in answers {
        if let Some(value) = asked.get(question) {
            response.headers_mut().insert(answer, value.clone());
        }
    }
    response.headers_mut().insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    response
}

/// Lets the page see the answer.
pub fn allow(response: &mut Response<Full<Bytes>>) {
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}
