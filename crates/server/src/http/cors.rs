//! Cross-origin requests: what a browser must be told before a page may read an answer.
//!
//! AWS lets every page in, as signatures decide who may do what. Where signatures are not verified only local
//! pages and those that the user allows are let in: any other could read this machine's tables.

use crate::http::host_policy::Reach;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::*;
use hyper::{Method, Response, StatusCode};

const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date");
/// How many seconds a browser may remember what it was told.
const REMEMBERED: HeaderValue = HeaderValue::from_static("172800");

/// What a request from a page asks for.
pub struct Page {
    /// Whether the page may read answers.
    welcome: bool,
    /// The headers and the method asked for in advance.
    wishes: Option<(Option<HeaderValue>, Option<HeaderValue>)>,
}

impl Page {
    /// None if no page sends the request.
    pub fn of_request(method: &Method, headers: &HeaderMap, reach: &Reach) -> Option<Page> {
        let origin = headers.get(ORIGIN)?;
        let welcome = origin.to_str().is_ok_and(|origin| reach.welcomes(origin));
        let wish = |name| headers.get(name).cloned();
        let wishes = (*method == Method::OPTIONS)
            .then(|| (wish(ACCESS_CONTROL_REQUEST_HEADERS), wish(ACCESS_CONTROL_REQUEST_METHOD)));
        Some(Page { welcome, wishes })
    }

    /// Whether the browser asks in advance. If so, the answer is [`Page::welcomed`]'s headers and nothing else.
    pub fn asks_in_advance(&self) -> bool {
        self.welcome && self.wishes.is_some()
    }

    /// Adds to an answer that the page may read it.
    pub fn welcomed(self, mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        if !self.welcome {
            return response;
        }
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        if let Some((wanted_headers, wanted_method)) = self.wishes {
            headers.insert(ACCESS_CONTROL_MAX_AGE, REMEMBERED);
            headers.extend(wanted_headers.map(|value| (ACCESS_CONTROL_ALLOW_HEADERS, value)));
            headers.extend(wanted_method.map(|value| (ACCESS_CONTROL_ALLOW_METHODS, value)));
            *response.status_mut() = StatusCode::OK;
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::host_policy::AllowedHosts;

    fn answer(method: Method, origin: &str, reach: &Reach) -> HeaderMap {
        let sent = [
            (ORIGIN, HeaderValue::from_str(origin).unwrap()),
            (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST")),
            (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("x-amz-target")),
        ];
        let page = Page::of_request(&method, &HeaderMap::from_iter(sent), reach).unwrap();
        page.welcomed(Response::new(Full::default())).headers().clone()
    }

    #[test]
    fn pages_are_welcome_where_signatures_are_verified_and_else_if_local() {
        let (any, verified) = (Reach::Unverified(AllowedHosts::default()), Reach::Verified);
        for (origin, reach, welcome) in [
            ("https://example.com", &verified, true),
            ("https://example.com", &any, false),
            ("http://localhost:3000", &any, true),
        ] {
            let headers = answer(Method::POST, origin, reach);
            assert_eq!(headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), welcome, "{origin}");
            assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_METHODS));
        }
        assert!(Page::of_request(&Method::POST, &HeaderMap::new(), &verified).is_none());
    }

    #[test]
    fn what_is_asked_in_advance_is_allowed() {
        let headers =
            answer(Method::OPTIONS, "http://127.0.0.1:3000", &Reach::Unverified(AllowedHosts::default()));
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "POST");
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_HEADERS], "x-amz-target");
        assert_eq!(headers[ACCESS_CONTROL_MAX_AGE], "172800");
    }
}
