//! What is read before anybody is known: heads of requests and their signatures.

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

/// A signed request as it arrives, with changes to its headers and a query.
struct Sent {
    headers: Vec<(String, String)>,
    query: String,
    body: Vec<u8>,
}

impl Sent {
    fn new(body: Vec<u8>) -> Sent {
        let headers = Signer::new(credential(), "eu-central-1").headers("localhost", TARGET, &body, NOW);
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Sent { headers, query: String::new(), body }
    }

    /// The names of these headers stand among those that are signed.
    fn signing(mut self, names: &str) -> Sent {
        for (name, value) in &mut self.headers {
            if name == "authorization" {
                *value = value.replace("host;", &format!("host;{names};"));
            }
        }
        self
    }

    fn with_headers(mut self, headers: impl Iterator<Item = (String, String)>) -> Sent {
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

/// Looks at the beginning of a request as the listener does.
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
    Case { name: "signed_body", size: 20_000, prepare: |n| Sent::new(vec![b'x'; n]).verify() },
    Case {
        name: "headers_beside_the_signed",
        size: 25,
        prepare: |n| Sent::new(Vec::new()).with_headers(numbered(n)).verify(),
    },
    Case {
        name: "signed_headers_refused",
        size: 25,
        prepare: |n| {
            let names = (0..n).map(|i| format!("x-{i}")).collect::<Vec<_>>().join(";");
            Sent::new(Vec::new()).signing(&names).with_headers(numbered(n)).verify()
        },
    },
    Case {
        name: "absent_signed_headers_refused",
        size: 500,
        prepare: |n| Sent::new(Vec::new()).signing(&list(n, |i| format!("x-{i}")).replace(',', ";")).verify(),
    },
    Case {
        name: "one_header_signed_often_refused",
        size: 500,
        prepare: |n| {
            let long = [("x".to_owned(), "y".repeat(2 * n))];
            let sent = Sent::new(Vec::new()).signing(&"x;".repeat(n)).with_headers(long.into_iter());
            sent.with_headers(numbered(20)).verify()
        },
    },
    Case {
        name: "signature_words_refused",
        size: 1_000,
        prepare: |n| {
            let mut sent = Sent::new(Vec::new());
            sent.headers.retain(|(name, _)| name != "authorization");
            let value = format!("AWS4-HMAC-SHA256 {}", "Credential=a, ".repeat(n));
            sent.with_headers([("authorization".to_owned(), value)].into_iter()).verify()
        },
    },
    Case {
        name: "query_parameters_refused",
        size: 500,
        prepare: |n| {
            let query = list(n, |i| format!("p{}=%41", shuffled(i))).replace(',', "&");
            Sent { query, ..Sent::new(Vec::new()) }.verify()
        },
    },
    Case {
        name: "presigned_parameters_refused",
        size: 500,
        prepare: |n| {
            let more = list(n, |_| "X-Amz-Credential=a".into()).replace(',', "&");
            let query = format!("X-Amz-Algorithm=AWS4-HMAC-SHA256&{more}");
            let mut sent = Sent { query, ..Sent::new(Vec::new()) };
            sent.headers.retain(|(name, _)| name != "authorization");
            sent.verify()
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
        name: "head_of_too_many_headers_refused",
        size: 100,
        prepare: |n| head((0..n).map(|i| format!("x-{i}: y\r\n")).collect()),
    },
    Case {
        name: "head_of_a_long_header",
        size: 3_000,
        prepare: |n| head(format!("x: {}\r\n", "y".repeat(n))),
    },
    Case { name: "head_without_an_end_refused", size: 8_000, prepare: |n| head("x".repeat(n)) },
];
