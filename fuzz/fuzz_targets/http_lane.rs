//! The bytes of a connection on the fast path: complete requests are split exactly, and their signatures are checked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_auth::{Authentication, Credential, Verifier};
use partita_server::fuzzing::{Seen, look};
use std::sync::LazyLock;

/// The time at which the requests of the corpus were signed.
const NOW: u64 = 1_794_700_800;

static AUTHENTICATION: LazyLock<Authentication> =
    LazyLock::new(|| Authentication::Verified(Verifier::new([Credential::new("AKIDEXAMPLE", "secret")])));

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Seen::Whole { end } = look(rest, |request| {
        assert!(request.body.len() < rest.len());
        let _ = AUTHENTICATION.check(request, NOW);
    }) {
        assert!(end <= rest.len());
        assert!(matches!(look(&rest[..end], |_| {}), Seen::Whole { end: same } if same == end));
        assert!(matches!(look(&rest[..end - 1], |_| {}), Seen::Missing(1) | Seen::Unusual));
        rest = &rest[end..];
    }
    if let Seen::Missing(bytes) = look(rest, |_| {}) {
        assert!(bytes > 0);
    }
});
