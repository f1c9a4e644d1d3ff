//! Input that is read before authentication: request heads and signatures.

use crate::decoders::{list, shuffled};
use crate::{Case, Work};
use partita_auth::{Authentication, Credential, Headers, SignedRequest, Signer, Verifier};
use partita_server::fuzzing::{ParsedBytes, parse};
use std::hint::black_box;

/// 2026-11-15.
const NOW: i64 = 1_794_700_800;
const TARGET: &str = "DynamoDB_20120810.ListTables";

fn credential() -> Credential {
    Credential::new("AKIDEXAMPLE", "secret")
}

/// A signed request, with optional changes to its headers and its query.
struct TestRequest {
    headers: Vec<(String, String)>,
    query: String,
    body: Vec<u8>,
}

impl TestRequest {
    fn new(body: Vec<u8>) -> TestRequest {
        let headers = Signer::new(credential(), "eu-central-1").headers("localhost", TARGET, &body, NOW);
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        TestRequest { headers, query: String::new(), body }
    }

    /// Adds names to the list of signed headers.
    fn signing(mut self, names: &str) -> TestRequest {
        for (name, value) in &mut self.headers {
            if name == "authorization" {
                *value = value.replace("host;", &format!("host;{names};"));
            }
        }
        self
    }

    fn with_headers(mut self, headers: impl Iterator<Item = (String, String)>) -> TestRequest {
        self.headers.extend(headers);
        self
    }

    /// Verifies the signature.
    fn verify(self) -> Work {
        let authentication = Authentication::Verified(Verifier::new([credential()]));
        Box::new(move || {
            let pairs = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
            let pairs: Vec<_> = pairs.collect();
            let request = SignedRequest {
                method: "POST",
                path: "/",
                query: &self.query,
                headers: Headers::new(&pairs),
                body: &self.body,
            };
            black_box(authentication.check(&request, NOW as u64)).is_ok()
        })
    }
}

/// Parses the head of a request like the listener.
fn head(more: String) -> Work {
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: {TARGET}\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n{more}\r\n{{}}"
    );
    Box::new(move || matches!(black_box(parse(head.as_bytes(), |_| {})), ParsedBytes::Complete { .. }))
}

fn numbered(n: usize) -> impl Iterator<Item = (String, String)> {
    (0..n).map(|i| (format!("x-{i}"), "y".to_owned()))
}

pub const CASES: [&[Case]; 2] = [SIGNATURES, HEADS];

const SIGNATURES: &[Case] = &[
    Case { name: "signed_body", size: 20_000, prepare: |n| TestRequest::new(vec![b'x'; n]).verify() },
    Case {
        name: "unsigned_headers",
        size: 25,
        prepare: |n| TestRequest::new(Vec::new()).with_headers(numbered(n)).verify(),
    },
    Case {
        name: "signed_headers_rejected",
        size: 25,
        prepare: |n| {
            let names = (0..n).map(|i| format!("x-{i}")).collect::<Vec<_>>().join(";");
            TestRequest::new(Vec::new()).signing(&names).with_headers(numbered(n)).verify()
        },
    },
    Case {
        name: "absent_signed_headers_rejected",
        size: 500,
        prepare: |n| {
            TestRequest::new(Vec::new()).signing(&list(n, |i| format!("x-{i}")).replace(',', ";")).verify()
        },
    },
    Case {
        name: "one_header_signed_repeatedly_rejected",
        size: 500,
        prepare: |n| {
            let long = [("x".to_owned(), "y".repeat(2 * n))];
            let request =
                TestRequest::new(Vec::new()).signing(&"x;".repeat(n)).with_headers(long.into_iter());
            request.with_headers(numbered(20)).verify()
        },
    },
    Case {
        name: "signature_words_rejected",
        size: 1_000,
        prepare: |n| {
            let mut request = TestRequest::new(Vec::new());
            request.headers.retain(|(name, _)| name != "authorization");
            let value = format!("AWS4-HMAC-SHA256 {}", "Credential=a, ".repeat(n));
            request.with_headers([("authorization".to_owned(), value)].into_iter()).verify()
        },
    },
    Case {
        name: "query_parameters_rejected",
        size: 500,
        prepare: |n| {
            let query = list(n, |i| format!("p{}=%41", shuffled(i))).replace(',', "&");
            TestRequest { query, ..TestRequest::new(Vec::new()) }.verify()
        },
    },
    Case {
        name: "presigned_parameters_rejected",
        size: 500,
        prepare: |n| {
            let more = list(n, |_| "X-Amz-Credential=a".into()).replace(',', "&");
            let query = format!("X-Amz-Algorithm=AWS4-HMAC-SHA256&{more}");
            let mut request = TestRequest { query, ..TestRequest::new(Vec::new()) };
            request.headers.retain(|(name, _)| name != "authorization");
            request.verify()
        },
    },
];

const HEADS: &[Case] = &[
    Case {
        name: "head_of_many_headers",
        size: 7,
        prepare: |n| head((0..n).map(|i| format!("x-{i}: y\r\n")).collect()),
    },
    Case {
        name: "head_of_too_many_headers_rejected",
        size: 100,
        prepare: |n| head((0..n).map(|i| format!("x-{i}: y\r\n")).collect()),
    },
    Case {
        name: "head_of_a_long_header",
        size: 3_000,
        prepare: |n| head(format!("x: {}\r\n", "y".repeat(n))),
    },
    Case { name: "head_without_an_end_rejected", size: 8_000, prepare: |n| head("x".repeat(n)) },
];
