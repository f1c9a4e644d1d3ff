//! The canonical request: what a signature signs.

use crate::query;
use crate::verifier::SignedRequest;
use sha2::{Digest, Sha256};

/// The text that is hashed into the string to sign. `parameters` are the query's.
///
/// `None` if signed headers are repeated so often that the text would be longer than the request.
pub fn canonical_request(
    request: &SignedRequest<'_>,
    parameters: &[(String, String)],
    signed_headers: &str,
) -> Option<String> {
    let mut text = canonical_head(request, parameters, signed_headers)?;
    push_hex(&mut text, &Sha256::digest(request.body));
    Some(text)
}

/// The canonical request up to the hash of the body.
pub fn canonical_head(
    request: &SignedRequest<'_>,
    parameters: &[(String, String)],
    signed_headers: &str,
) -> Option<String> {
    let mut text = String::with_capacity(512);
    text.push_str(request.method);
    text.push('\n');
    text.push_str(if request.path.is_empty() { "/" } else { request.path });
    text.push('\n');
    // A presigned request does not sign its own signature.
    text.push_str(&query::canonical(parameters.iter().filter(|(name, _)| name != "X-Amz-Signature")));
    text.push('\n');
    let mut bytes_left = request.headers.bytes();
    for (number, name) in signed_headers.split(';').enumerate() {
        if number >= request.headers.count() {
            return None;
        }
        text.push_str(name);
        text.push(':');
        for (i, value) in request.headers.get_all(name).enumerate() {
            bytes_left = bytes_left.checked_sub(value.len())?;
            if i > 0 {
                text.push(',');
            }
            push_words(&mut text, &String::from_utf8_lossy(value));
        }
        text.push('\n');
    }
    text.push('\n');
    text.push_str(signed_headers);
    text.push('\n');
    Some(text)
}

/// Appends the words of a header's value, separated by single spaces.
fn push_words(text: &mut String, value: &str) {
    for (i, word) in value.split_ascii_whitespace().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    push_hex(&mut text, bytes);
    text
}

pub fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}
