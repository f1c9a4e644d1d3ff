//! Cross-origin resource sharing: the headers that let a web page read responses.
//!
//! AWS allows every origin, because signatures decide who may do what. Where signatures are not verified, only local
//! origins and those that the user allows are allowed: any other page could read this machine's tables.

use crate::http::host_policy::HostPolicy;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::*;
use hyper::{Method, Response, StatusCode};

const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date");
/// How many seconds a browser may cache the response to a preflight.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("172800");

/// A request with an `Origin` header.
pub struct CrossOriginRequest {
    /// Whether pages of the origin may read responses.
    is_allowed: bool,
    preflight: Option<Preflight>,
}

/// What a preflight requests permission for.
struct Preflight {
    headers: Option<HeaderValue>,
    method: Option<HeaderValue>,
}

impl CrossOriginRequest {
    /// `None` if the request has no `Origin` header.
    pub fn new(method: &Method, headers: &HeaderMap, host_policy: &HostPolicy) -> Option<CrossOriginRequest> {
        let origin = headers.get(ORIGIN)?;
        let is_allowed = origin.to_str().is_ok_and(|origin| host_policy.allows_origin(origin));
        let preflight = (*method == Method::OPTIONS).then(|| Preflight {
            headers: headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned(),
            method: headers.get(ACCESS_CONTROL_REQUEST_METHOD).cloned(),
        });
        Some(CrossOriginRequest { is_allowed, preflight })
    }

    /// Whether this is an allowed preflight, whose response consists of the headers of [`Self::add_headers`] only.
    pub fn is_allowed_preflight(&self) -> bool {
        self.is_allowed && self.preflight.is_some()
    }

    /// Adds the headers that let the page read the response, if it may.
    pub fn add_headers(self, mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        if !self.is_allowed {
            return response;
        }
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if let Some(requested) = self.preflight {
            headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
            headers.extend(requested.headers.map(|value| (ACCESS_CONTROL_ALLOW_HEADERS, value)));
            headers.extend(requested.method.map(|value| (ACCESS_CONTROL_ALLOW_METHODS, value)));
            *response.status_mut() = StatusCode::OK;
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::host_policy::AllowedHosts;

    fn response_headers(method: Method, origin: &str, host_policy: &HostPolicy) -> HeaderMap {
        let sent = [
            (ORIGIN, HeaderValue::from_str(origin).unwrap()),
            (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST")),
            (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("x-amz-target")),
        ];
        let request = CrossOriginRequest::new(&method, &HeaderMap::from_iter(sent), host_policy).unwrap();
        request.add_headers(Response::new(Full::default())).headers().clone()
    }

    #[test]
    fn origins_are_allowed_if_signatures_are_verified_or_if_they_are_local() {
        let (local, verified) = (HostPolicy::Unverified(AllowedHosts::default()), HostPolicy::Verified);
        for (origin, policy, is_allowed) in [
            ("https://example.com", &verified, true),
            ("https://example.com", &local, false),
            ("http://localhost:3000", &local, true),
        ] {
            let headers = response_headers(Method::POST, origin, policy);
            assert_eq!(headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), is_allowed, "{origin}");
            assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_METHODS));
        }
        assert!(CrossOriginRequest::new(&Method::POST, &HeaderMap::new(), &verified).is_none());
    }

    #[test]
    fn a_preflight_is_granted_what_it_requests() {
        let headers = response_headers(
            Method::OPTIONS,
            "http://127.0.0.1:3000",
            &HostPolicy::Unverified(AllowedHosts::default()),
        );
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "POST");
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_HEADERS], "x-amz-target");
        assert_eq!(headers[ACCESS_CONTROL_MAX_AGE], "172800");
    }
}
