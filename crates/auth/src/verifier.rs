//! The verifier: a request comes in, the access key that signed it goes out, or AWS's refusal.

use crate::canonical::{canonical_request, hex};
use crate::signature::Signature;
use crate::{Credential, date};
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use partita_api::{Exception, ExceptionKind};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::RwLock;
use subtle::ConstantTimeEq;

/// How far a signature's time may be from ours.
const SKEW_SECONDS: i64 = 15 * 60;
/// Derived keys kept; one is needed per access key, day and region.
const CACHED_KEYS: usize = 256;

/// A request as it arrived.
pub struct SignedRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// How requests are authenticated.
pub enum Authentication {
    /// Any signature is taken for granted, but there must be one.
    Unverified,
    Verified(Verifier),
}

impl Authentication {
    /// `now` is in seconds since 1970.
    pub fn check(&self, request: &SignedRequest<'_>, now: u64) -> Result<(), Exception> {
        let header = request.headers.get(http::header::AUTHORIZATION);
        let in_query = request.query.contains("X-Amz-Algorithm=");
        if header.is_some() && in_query {
            return Err(invalid(
                "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
            ));
        }
        if header.is_none() && !in_query {
            return Err(Exception::new(
                ExceptionKind::MissingAuthenticationTokenException,
                "Request is missing Authentication Token",
            ));
        }
        match self {
            Authentication::Unverified => Ok(()),
            Authentication::Verified(verifier) => verifier.verify(request, now as i64),
        }
    }
}

/// Knows the credentials that may sign.
pub struct Verifier {
    credentials: HashMap<String, Credential>,
    /// Access key and scope → derived signing key.
    signing_keys: RwLock<HashMap<String, [u8; 32]>>,
}

impl Verifier {
    pub fn new(credentials: impl IntoIterator<Item = Credential>) -> Verifier {
        let credentials =
            credentials.into_iter().map(|credential| (credential.access_key.clone(), credential));
        Verifier { credentials: credentials.collect(), signing_keys: RwLock::default() }
    }

    fn verify(&self, request: &SignedRequest<'_>, now: i64) -> Result<(), Exception> {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        match header("authorization") {
            Some(authorization) => {
                let date = header("x-amz-date").or_else(|| header("date"));
                self.verify_signature(request, &Signature::from_header(authorization, date)?, false, now)
            }
            None => {
                let parameters = decode_query(request.query);
                self.verify_signature(request, &Signature::from_query(&parameters)?, true, now)
            }
        }
    }

    fn verify_signature(
        &self,
        request: &SignedRequest<'_>,
        signature: &Signature<'_>,
        presigned: bool,
        now: i64,
    ) -> Result<(), Exception> {
        if !signature.signed_headers.split(';').any(|name| name.eq_ignore_ascii_case("host")) {
            return Err(invalid("'Host' must be a 'SignedHeader' in the AWS Authorization."));
        }
        check_time(signature.signed_at, now)?;
        let Some(credential) = self.credentials.get(signature.access_key) else {
            return Err(Exception::new(
                ExceptionKind::UnrecognizedClientException,
                "The security token included in the request is invalid.",
            ));
        };
        let canonical = canonical_request(request, signature.signed_headers, presigned);
        let to_sign = format!(
            "AWS4-HMAC-SHA256\n{}\n{}\n{}",
            signature.signed_at,
            signature.scope,
            hex(&Sha256::digest(canonical.as_bytes()))
        );
        let expected = hex(&hmac(&self.signing_key(credential, signature.scope), to_sign.as_bytes()));
        if bool::from(expected.as_bytes().ct_eq(signature.signature.as_bytes())) {
            Ok(())
        } else {
            Err(invalid(
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
            ))
        }
    }

    fn signing_key(&self, credential: &Credential, scope: &str) -> [u8; 32] {
        let name = format!("{}/{scope}", credential.access_key);
        if let Ok(keys) = self.signing_keys.read()
            && let Some(key) = keys.get(&name)
        {
            return *key;
        }
        let key = derive_key(credential, scope);
        if let Ok(mut keys) = self.signing_keys.write() {
            if keys.len() >= CACHED_KEYS {
                keys.clear();
            }
            keys.insert(name, key);
        }
        key
    }
}

/// The key that signs within a scope: `date/region/service/aws4_request`.
pub fn derive_key(credential: &Credential, scope: &str) -> [u8; 32] {
    let secret = format!("AWS4{}", credential.secret());
    let mut key = hmac(secret.as_bytes(), scope.split('/').next().unwrap_or_default().as_bytes());
    for part in scope.split('/').skip(1) {
        key = hmac(&key, part.as_bytes());
    }
    key
}

pub fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(data);
            mac.finalize().into_bytes().into()
        }
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

fn check_time(signed_at: &str, now: i64) -> Result<(), Exception> {
    let Some(signed) = date::parse(signed_at) else {
        return Err(Exception::new(
            ExceptionKind::IncompleteSignatureException,
            "Date must be in ISO-8601 'basic format'.",
        ));
    };
    if signed < now - SKEW_SECONDS {
        return Err(invalid(format!(
            "Signature expired: {signed_at} is now earlier than {} ({} - 15 min.)",
            date::format(now - SKEW_SECONDS),
            date::format(now)
        )));
    }
    if signed > now + SKEW_SECONDS {
        return Err(invalid(format!(
            "Signature not yet current: {signed_at} is still later than {} ({} + 15 min.)",
            date::format(now + SKEW_SECONDS),
            date::format(now)
        )));
    }
    Ok(())
}

fn invalid(message: impl Into<String>) -> Exception {
    Exception::new(ExceptionKind::InvalidSignatureException, message)
}

fn decode_query(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter_map(|parameter| parameter.split_once('='));
    pairs.map(|(name, value)| (percent_decode(name), percent_decode(value))).collect()
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_440_938_160; // 2015-08-30T12:36:00Z, the moment of AWS's published example

    fn request<'a>(headers: &'a HeaderMap, query: &'a str) -> SignedRequest<'a> {
        SignedRequest { method: "GET", path: "/", query, headers, body: b"" }
    }

    fn verifier() -> Authentication {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        Authentication::Verified(Verifier::new([Credential::new("AKIDEXAMPLE", secret)]))
    }

    /// AWS's published example: the IAM ListUsers request of the Signature Version 4 documentation.
    fn example(signature: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature={signature}"
        );
        headers.insert("authorization", authorization.parse().unwrap());
        headers.insert("content-type", "application/x-www-form-urlencoded; charset=utf-8".parse().unwrap());
        headers.insert("host", "iam.amazonaws.com".parse().unwrap());
        headers.insert("x-amz-date", "20150830T123600Z".parse().unwrap());
        headers
    }

    const QUERY: &str = "Action=ListUsers&Version=2010-05-08";
    const SIGNATURE: &str = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";

    fn kind(result: Result<(), Exception>) -> Option<ExceptionKind> {
        result.err().map(|exception| exception.kind)
    }

    #[test]
    fn the_published_example_is_accepted() {
        assert_eq!(verifier().check(&request(&example(SIGNATURE), QUERY), NOW), Ok(()));
    }

    #[test]
    fn another_signature_query_or_body_is_refused() {
        let refused = Some(ExceptionKind::InvalidSignatureException);
        let other = SIGNATURE.replace('5', "6");
        assert_eq!(kind(verifier().check(&request(&example(&other), QUERY), NOW)), refused);
        assert_eq!(kind(verifier().check(&request(&example(SIGNATURE), "Action=ListRoles"), NOW)), refused);
        let headers = example(SIGNATURE);
        let altered = SignedRequest { body: b"x", ..request(&headers, QUERY) };
        assert_eq!(kind(verifier().check(&altered, NOW)), refused);
    }

    #[test]
    fn old_signatures_are_refused_with_both_times() {
        let exception = verifier().check(&request(&example(SIGNATURE), QUERY), NOW + 901).unwrap_err();
        assert_eq!(
            exception.message,
            "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z (20150830T125101Z - 15 min.)"
        );
    }

    #[test]
    fn missing_parts_are_named() {
        let mut headers = example(SIGNATURE);
        headers.insert("authorization", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e".parse().unwrap());
        let exception = verifier().check(&request(&headers, ""), NOW).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::IncompleteSignatureException);
        assert!(exception.message.starts_with("Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "));
        headers.remove("authorization");
        let none = Authentication::Unverified.check(&request(&headers, ""), NOW);
        assert_eq!(kind(none), Some(ExceptionKind::MissingAuthenticationTokenException));
    }
}
