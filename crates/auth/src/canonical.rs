//! The canonical request: what a signature signs.

use crate::query;
use crate::verifier::SignedRequest;
use sha2::{Digest, Sha256};

/// The text that is hashed into the string to sign. `parameters` are the query's.
pub fn canonical_request(
    request: &SignedRequest<'_>,
    parameters: &[(String, String)],
    signed_headers: &str,
) -> String {
    let mut text = String::with_capacity(512);
    text.push_str(request.method);
    text.push('\n');
    text.push_str(if request.path.is_empty() { "/" } else { request.path });
    text.push('\n');
    // A presigned request does not sign its own signature.
    text.push_str(&query::canonical(parameters.iter().filter(|(name, _)| name != "X-Amz-Signature")));
    text.push('\n');
    for name in signed_headers.split(';') {
        let values = request.headers.get_all(name).iter().map(|value| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
        });
        text.push_str(name);
        text.push(':');
        text.push_str(&values.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(signed_headers);
    text.push('\n');
    text.push_str(&hex(&Sha256::digest(request.body)));
    text
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|nibble| DIGITS[usize::from(nibble)] as char).collect()
}
