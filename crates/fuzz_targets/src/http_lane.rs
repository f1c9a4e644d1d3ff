//! The bytes of a connection in the fast lane: complete requests are delimited exactly, and their signatures are checked.

use partita_auth::{Authentication, Credential, Verifier};
use partita_server::fuzzing::{ParsedBytes, parse};
use std::sync::LazyLock;

/// When the signatures of the corpus were made.
const NOW: u64 = 1_794_700_800;

static AUTHENTICATION: LazyLock<Authentication> =
    LazyLock::new(|| Authentication::Verified(Verifier::new([Credential::new("AKIDEXAMPLE", "secret")])));

pub fn run(bytes: &[u8]) {
    let mut rest = bytes;
    while let ParsedBytes::Complete { end } = parse(rest, |request| {
        assert!(request.body.len() < rest.len());
        let _ = AUTHENTICATION.check(request, NOW);
    }) {
        assert!(end <= rest.len());
        assert!(matches!(parse(&rest[..end], |_| {}), ParsedBytes::Complete { end: same } if same == end));
        assert!(matches!(parse(&rest[..end - 1], |_| {}), ParsedBytes::Incomplete(1) | ParsedBytes::Unusual));
        rest = &rest[end..];
    }
    if let ParsedBytes::Incomplete(bytes) = parse(rest, |_| {}) {
        assert!(bytes > 0);
    }
}
