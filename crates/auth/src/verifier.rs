//! The verifier: checks a request's signature, with AWS's errors.

use crate::canonical::canonical_head;
use crate::signature::{SCHEME, Scope, Signature, incomplete};
use crate::signature_check::SignatureCheck;
use crate::{Credential, Headers, date, query};
use hmac::{Hmac, KeyInit, Mac};
use partita_api::{Exception, ExceptionKind};
use sha2::Sha256;
use std::collections::HashMap;
use std::sync::RwLock;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const TERMINATOR: &str = "aws4_request";
const SERVICE: &str = "dynamodb";
/// `20261115`.
const DATE_LENGTH: usize = 8;
/// A presigned request is valid for a week at most.
const MAX_EXPIRY_SECONDS: i64 = 7 * 24 * 60 * 60;
/// How far a signature's time may be from the current time.
const SKEW_SECONDS: i64 = 15 * 60;
/// How many derived keys are cached; one is needed per access key, day and region.
const CACHED_KEYS: usize = 256;

const MISMATCH: &str = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";

/// A request as it arrived.
pub struct SignedRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: Headers<'a>,
    pub body: &'a [u8],
}

/// How requests are authenticated.
pub enum Authentication {
    /// Any signature is accepted, but there must be one.
    Unverified,
    Verified(Verifier),
}

impl Authentication {
    /// Checks a request; `now` is in seconds since 1970.
    pub fn check(&self, request: &SignedRequest<'_>, now: u64) -> Result<(), Exception> {
        let Some(mut check) = self.begin_check(request, now)? else { return Ok(()) };
        check.hash(request.body);
        check.finish()
    }

    /// Checks everything but the body, which remains to be hashed; `None` if any signature is accepted.
    pub fn begin_check(
        &self,
        request: &SignedRequest<'_>,
        now: u64,
    ) -> Result<Option<SignatureCheck>, Exception> {
        let header = |name: &str| request.headers.text(name);
        let parameters = query::decode(request.query);
        let presigned = parameters.iter().any(|(name, _)| name == "X-Amz-Algorithm");
        let signature = match (header("authorization"), presigned) {
            (Some(_), true) => {
                return Err(invalid(
                    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
                ));
            }
            (None, true) => Signature::from_query(&parameters)?,
            (Some(authorization), false) if authorization.starts_with(SCHEME) => {
                Signature::from_header(authorization, header("x-amz-date").or_else(|| header("date")))?
            }
            _ => {
                return Err(Exception::new(
                    ExceptionKind::MissingAuthenticationTokenException,
                    "Request is missing Authentication Token",
                ));
            }
        };
        match self {
            Authentication::Unverified => Ok(None),
            Authentication::Verified(verifier) => {
                verifier.begin_check(request, &parameters, &signature, now as i64).map(Some)
            }
        }
    }
}

/// Verifies signatures by a set of credentials.
pub struct Verifier {
    /// The service that signatures must be for.
    service: &'static str,
    credentials: HashMap<String, Credential>,
    /// Access key and scope, as in requests → HMAC state initialized with the derived key.
    signing_keys: RwLock<HashMap<String, Hmac<Sha256>>>,
}

impl Verifier {
    pub fn new(credentials: impl IntoIterator<Item = Credential>) -> Verifier {
        let credentials =
            credentials.into_iter().map(|credential| (credential.access_key.clone(), credential));
        Verifier { service: SERVICE, credentials: credentials.collect(), signing_keys: RwLock::default() }
    }

    fn begin_check(
        &self,
        request: &SignedRequest<'_>,
        parameters: &[(String, String)],
        signature: &Signature<'_>,
        now: i64,
    ) -> Result<SignatureCheck, Exception> {
        if signature.algorithm != ALGORITHM {
            return Err(incomplete(format!("Unsupported AWS 'algorithm': '{}'.", signature.algorithm)));
        }
        let (access_key, scope) = signature.access_key_and_scope()?;
        check_time(signature, now)?;
        check_signed_headers(request, signature.signed_headers)?;
        self.check_scope(scope, signature.signed_at)?;
        let Some(credential) = self.credentials.get(access_key) else {
            return Err(Exception::new(
                ExceptionKind::UnrecognizedClientException,
                "The security token included in the request is invalid.",
            ));
        };
        let canonical =
            canonical_head(request, parameters, signature.signed_headers).ok_or_else(|| invalid(MISMATCH))?;
        let to_sign = [ALGORITHM, signature.signed_at, scope.text, ""].join("\n");
        let mac = self.signing_key(credential, signature.credential, scope);
        Ok(SignatureCheck::new(canonical, to_sign, mac, signature.signature))
    }

    /// A signature is valid for one day and one service. The client chooses the region.
    fn check_scope(&self, scope: Scope<'_>, signed_at: &str) -> Result<(), Exception> {
        let mut faults = String::new();
        if scope.terminator != TERMINATOR {
            faults.push_str(&format!(
                "Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{}'. ",
                scope.terminator
            ));
        }
        if scope.service != self.service {
            faults.push_str(&format!("Credential should be scoped to correct service: '{}'. ", self.service));
        }
        if !signed_at.starts_with(scope.date) || scope.date.len() != DATE_LENGTH {
            faults.push_str(&format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{}', from '{signed_at}'. ",
                scope.date,
                signed_at.get(..DATE_LENGTH).unwrap_or(signed_at)
            ));
        }
        if faults.is_empty() { Ok(()) } else { Err(invalid(faults.trim_end())) }
    }

    /// The first step of a signature, which is cached because it is the same for an access key and scope.
    fn signing_key(&self, credential: &Credential, name: &str, scope: Scope<'_>) -> Hmac<Sha256> {
        if let Ok(keys) = self.signing_keys.read()
            && let Some(key) = keys.get(name)
        {
            return key.clone();
        }
        let key = keyed(&derive_key(credential, scope.text));
        if let Ok(mut keys) = self.signing_keys.write() {
            if keys.len() >= CACHED_KEYS {
                keys.clear();
            }
            keys.insert(name.to_owned(), key.clone());
        }
        key
    }
}

/// The key for one day, region and service.
pub(crate) fn derive_key(credential: &Credential, scope: &str) -> [u8; 32] {
    let secret = format!("AWS4{}", credential.secret());
    let mut parts = scope.split('/');
    let first = hmac(secret.as_bytes(), parts.next().unwrap_or_default().as_bytes());
    parts.fold(first, |key, part| hmac(&key, part.as_bytes()))
}

pub(crate) fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut mac = keyed(key);
    mac.update(data);
    mac.finalize().into_bytes().into()
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(mac) => mac,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

/// A signature is valid for a quarter of an hour, a presigned request for as long as it states.
fn check_time(signature: &Signature<'_>, now: i64) -> Result<(), Exception> {
    let signed_at = signature.signed_at;
    let Some(signed) = date::parse(signed_at) else {
        return Err(incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{signed_at}'. See http://en.wikipedia.org/wiki/ISO_8601"
        )));
    };
    let validity = signature.expires.map_or(Ok(SKEW_SECONDS), expiry)?;
    if signed < now - validity {
        return Err(invalid(format!(
            "Signature expired: {signed_at} is now earlier than {} ({} - {}.)",
            date::format(now - validity),
            date::format(now),
            duration(validity)
        )));
    }
    if signed > now + SKEW_SECONDS {
        return Err(invalid(format!(
            "Signature not yet current: {signed_at} is still later than {} ({} + {}.)",
            date::format(now + SKEW_SECONDS),
            date::format(now),
            duration(SKEW_SECONDS)
        )));
    }
    Ok(())
}

fn expiry(seconds: &str) -> Result<i64, Exception> {
    let digits = seconds.bytes().all(|byte| byte.is_ascii_digit());
    match seconds.parse() {
        Ok(seconds) if digits && seconds <= MAX_EXPIRY_SECONDS => Ok(seconds),
        _ if digits => Err(invalid(format!(
            "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than {MAX_EXPIRY_SECONDS} seconds"
        ))),
        _ => Err(invalid("X-Amz-Expires should be a number")),
    }
}

fn duration(seconds: i64) -> String {
    if seconds % 60 == 0 { format!("{} min", seconds / 60) } else { format!("{seconds} sec") }
}

/// The host and the header that selects the operation must be signed.
fn check_signed_headers(request: &SignedRequest<'_>, signed: &str) -> Result<(), Exception> {
    let needed = [("Host", true), ("X-Amz-Target", request.headers.contains("x-amz-target"))];
    for (name, _) in needed.into_iter().filter(|(_, needed)| *needed) {
        if !signed.split(';').any(|header| header.eq_ignore_ascii_case(name)) {
            return Err(invalid(format!("'{name}' must be a 'SignedHeader' in the AWS Authorization.")));
        }
    }
    Ok(())
}

fn invalid(message: impl Into<String>) -> Exception {
    Exception::new(ExceptionKind::InvalidSignatureException, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{canonical_request, hex};
    use sha2::Digest;

    const NOW: u64 = 1_440_938_160; // 2015-08-30T12:36:00Z, the moment of AWS's published example

    /// The headers of a request under construction.
    #[derive(Default)]
    struct TestHeaders(Vec<(&'static str, String)>);

    impl TestHeaders {
        fn insert(&mut self, name: &'static str, value: impl Into<String>) {
            self.remove(name);
            self.append(name, value);
        }

        fn append(&mut self, name: &'static str, value: impl Into<String>) {
            self.0.push((name, value.into()));
        }

        fn remove(&mut self, name: &str) -> Option<String> {
            let index = self.0.iter().position(|(sent, _)| *sent == name)?;
            Some(self.0.remove(index).1)
        }

        /// The headers as they arrive; leaked, so that they live as long as the test.
        fn arrived(&self) -> Headers<'static> {
            let pairs = self.0.iter().map(|(name, value)| (*name, &*value.clone().into_bytes().leak()));
            Headers::new(pairs.collect::<Vec<_>>().leak())
        }
    }

    fn request<'a>(headers: &'a TestHeaders, query: &'a str) -> SignedRequest<'a> {
        SignedRequest { method: "GET", path: "/", query, headers: headers.arrived(), body: b"" }
    }

    fn verifier() -> Authentication {
        Authentication::Verified(Verifier { service: "iam", ..dynamodb() })
    }

    fn dynamodb() -> Verifier {
        Verifier::new([Credential::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")])
    }

    /// AWS's published example: the IAM ListUsers request of the Signature Version 4 documentation.
    fn example(signature: &str) -> TestHeaders {
        let mut headers = TestHeaders::default();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature={signature}"
        );
        headers.insert("authorization", authorization);
        headers.insert("content-type", "application/x-www-form-urlencoded; charset=utf-8");
        headers.insert("host", "iam.amazonaws.com");
        headers.insert("x-amz-date", "20150830T123600Z");
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
    fn parts_are_separated_by_commas_or_spaces() {
        for separator in [",", " ", ", "] {
            let mut headers = example(SIGNATURE);
            let parts = headers.remove("authorization").unwrap().replace(", ", separator);
            headers.insert("authorization", parts);
            assert_eq!(verifier().check(&request(&headers, QUERY), NOW), Ok(()));
        }
    }

    #[test]
    fn missing_parts_are_named() {
        let mut headers = example(SIGNATURE);
        headers.insert("authorization", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e");
        let exception = verifier().check(&request(&headers, ""), NOW).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::IncompleteSignatureException);
        assert!(exception.message.starts_with("Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "));
        headers.remove("authorization");
        let none = Authentication::Unverified.check(&request(&headers, ""), NOW);
        assert_eq!(kind(none), Some(ExceptionKind::MissingAuthenticationTokenException));
    }

    /// A POST signed the way a client does.
    fn signed(scope: &str, signed_headers: &str) -> TestHeaders {
        let mut headers = TestHeaders::default();
        headers.insert("host", "localhost:8000");
        headers.insert("x-amz-date", "20150830T123600Z");
        headers.insert("x-amz-target", "DynamoDB_20120810.ListTables");
        let post =
            SignedRequest { method: "POST", path: "/", query: "", headers: headers.arrived(), body: b"{}" };
        let signature = sign(&post, scope, signed_headers);
        let authorization = format!(
            "{ALGORITHM} Credential=AKIDEXAMPLE/{scope}, SignedHeaders={signed_headers}, Signature={signature}"
        );
        headers.insert("authorization", authorization);
        headers
    }

    fn sign(request: &SignedRequest<'_>, scope: &str, signed_headers: &str) -> String {
        let credential = format!("AKIDEXAMPLE/{scope}");
        let signature = Signature {
            algorithm: ALGORITHM,
            credential: &credential,
            signed_headers,
            signature: "",
            signed_at: "20150830T123600Z",
            expires: None,
        };
        let canonical = canonical_request(request, &query::decode(request.query), signed_headers).unwrap();
        let hash = hex(&Sha256::digest(canonical.as_bytes()));
        let (_, scope) = signature.access_key_and_scope().unwrap();
        let key = derive_key(&dynamodb().credentials["AKIDEXAMPLE"], scope.text);
        hex(&hmac(&key, format!("{ALGORITHM}\n20150830T123600Z\n{}\n{hash}", scope.text).as_bytes()))
    }

    fn posted(headers: &TestHeaders, query: &str, now: u64) -> String {
        let post =
            SignedRequest { method: "POST", path: "/", query, headers: headers.arrived(), body: b"{}" };
        let checked = Authentication::Verified(dynamodb()).check(&post, now);
        checked.map_or_else(|exception| exception.message, |()| "accepted".to_owned())
    }

    const SCOPE: &str = "20150830/eu-central-1/dynamodb/aws4_request";
    const ALL: &str = "host;x-amz-date;x-amz-target";

    #[test]
    fn a_scope_must_have_the_day_and_the_service() {
        assert_eq!(posted(&signed(SCOPE, ALL), "", NOW), "accepted");
        for (scope, fault) in [
            ("20150830/eu-central-1/s3/aws4_request", "scoped to correct service: 'dynamodb'."),
            ("20150830/eu-central-1/dynamodb/other", "valid terminator: 'aws4_request', not 'other'."),
            ("20150829/eu-central-1/dynamodb/aws4_request", "'20150829' != '20150830'"),
            ("2015/eu-central-1/dynamodb/aws4_request", "'2015' != '20150830'"),
        ] {
            let message = posted(&signed(scope, ALL), "", NOW);
            assert!(message.contains(fault), "{message}");
        }
        let message = posted(&example(SIGNATURE), QUERY, NOW);
        assert!(message.contains("correct service"), "{message}");
    }

    #[test]
    fn repeated_signed_headers_do_not_inflate_the_canonical_request() {
        let mut headers = signed(SCOPE, ALL);
        headers.insert("x-long", "x".repeat(1_000));
        for more in [";host".repeat(9), ";x-long;x-long".to_owned()] {
            let names = format!("{ALL}{more}");
            let post = SignedRequest { method: "POST", ..request(&headers, "") };
            assert_eq!(canonical_request(&post, &[], &names), None, "{names}");
            let mut headers = signed(SCOPE, ALL);
            let authorization = headers.remove("authorization").unwrap().replace(ALL, &names);
            headers.insert("authorization", authorization);
            assert_eq!(posted(&headers, "", NOW), MISMATCH);
        }
    }

    #[test]
    fn the_host_and_the_target_must_be_signed() {
        for (headers, name) in [("x-amz-date;x-amz-target", "Host"), ("host;x-amz-date", "X-Amz-Target")] {
            let expected = format!("'{name}' must be a 'SignedHeader' in the AWS Authorization.");
            assert_eq!(posted(&signed(SCOPE, headers), "", NOW), expected);
        }
        let mut headers = signed(SCOPE, ALL);
        headers.append("x-amz-target", "DynamoDB_20120810.DeleteTable");
        assert!(posted(&headers, "", NOW).contains("does not match"));
        let mut headers = signed(SCOPE, ALL);
        headers.append("x-unsigned", "added on the way");
        assert_eq!(posted(&headers, "", NOW), "accepted");
        assert!(posted(&headers, "added=1", NOW).contains("does not match"));
    }

    fn presigned(more: &str) -> (TestHeaders, String) {
        let mut headers = TestHeaders::default();
        headers.insert("host", "localhost:8000");
        let query = format!(
            "X-Amz-Algorithm={ALGORITHM}&X-Amz-Credential=AKIDEXAMPLE/{SCOPE}&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host{more}"
        );
        let post = SignedRequest {
            method: "POST",
            path: "/",
            query: &query,
            headers: headers.arrived(),
            body: b"{}",
        };
        let signature = sign(&post, SCOPE, "host");
        (headers, format!("{query}&X-Amz-Signature={signature}"))
    }

    #[test]
    fn a_presigned_request_is_valid_until_it_expires() {
        let (headers, query) = presigned("&X-Amz-Expires=3600");
        assert_eq!(posted(&headers, &query, NOW), "accepted");
        assert_eq!(posted(&headers, &query, NOW + 3600), "accepted");
        let expired = "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z (20150830T133601Z - 60 min.)";
        assert_eq!(posted(&headers, &query, NOW + 3601), expired);
        assert!(posted(&headers, &query, NOW - 901).starts_with("Signature not yet current"));
        let longer = query.replace("Expires=3600", "Expires=36000");
        assert!(posted(&headers, &longer, NOW).contains("does not match"));
        let (headers, short) = presigned("&X-Amz-Expires=10");
        assert!(posted(&headers, &short, NOW + 11).ends_with("(20150830T123611Z - 10 sec.)"));
        for (expires, text) in
            [("604801", "less than a week"), ("-1", "a number"), ("99999999999999999999", "week")]
        {
            let (headers, query) = presigned(&format!("&X-Amz-Expires={expires}"));
            assert!(posted(&headers, &query, NOW).contains(text), "{expires}");
        }
        let (headers, unlimited) = presigned("");
        assert_eq!(posted(&headers, &unlimited, NOW + 900), "accepted");
        assert!(posted(&headers, &unlimited, NOW + 901).starts_with("Signature expired"));
    }

    #[test]
    fn malformed_signatures_are_missing_or_incomplete() {
        let unverified = |authorization: &str, query: &str| {
            let mut headers = TestHeaders::default();
            if !authorization.is_empty() {
                headers.insert("authorization", authorization);
            }
            let checked = Authentication::Unverified.check(&request(&headers, query), NOW);
            checked.unwrap_err().message
        };
        for (authorization, query) in
            [("", ""), ("AWS4", ""), ("Basic YTpi", ""), ("", "X-Amz-Credential=a&X-Amz-Signature=b")]
        {
            assert_eq!(unverified(authorization, query), "Request is missing Authentication Token");
        }
        assert!(unverified("anything", "X-Amz-Algorithm").starts_with("Found both"));
        let message = unverified("AWS4-HMAC-SHA256 Signature=b,Credential=a", "");
        assert!(message.starts_with("Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence"), "{message}");
        assert!(!message.contains("Signature=b"), "{message}");
        let message = unverified("", "X-Amz-Algorithm=a&X-Amz-Signature=&X-Amz-Date=d");
        let names = ["X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders"];
        let missing = names.map(|name| format!("AWS query-string parameters must include '{name}'. "));
        assert_eq!(message, missing.concat() + "Re-examine the query-string parameters.");
    }
}
