//! The canonical request: what a signature signs.

use crate::verifier::SignedRequest;
use sha2::{Digest, Sha256};

/// The text that is hashed into the string to sign.
pub fn canonical_request(request: &SignedRequest<'_>, signed_headers: &str, presigned: bool) -> String {
    let mut text = String::with_capacity(512);
    text.push_str(request.method);
    text.push('\n');
    text.push_str(if request.path.is_empty() { "/" } else { request.path });
    text.push('\n');
    text.push_str(&canonical_query(request.query, presigned));
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

/// Parameters in order; a presigned request does not sign its own signature.
fn canonical_query(query: &str, presigned: bool) -> String {
    let mut parameters: Vec<(&str, &str)> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .filter(|(name, _)| !(presigned && *name == "X-Amz-Signature"))
        .collect();
    parameters.sort_unstable();
    let pairs: Vec<String> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|nibble| DIGITS[usize::from(nibble)] as char).collect()
}
