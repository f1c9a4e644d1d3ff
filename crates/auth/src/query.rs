//! Query parameters: decoded, and in the canonical form that is signed.

use crate::canonical::hex;

/// Percent-decoded names and values. A parameter without a value gets an empty one.
pub fn decode(query: &str) -> Vec<(String, String)> {
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let pairs = parameters.map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")));
    pairs.map(|(name, value)| (percent_decode(name), percent_decode(value))).collect()
}

/// All parameters, encoded uniformly and sorted: the form that is signed, however a client wrote them.
pub fn canonical<'a>(parameters: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut encoded: Vec<(String, String)> =
        parameters.map(|(name, value)| (percent_encode(name), percent_encode(value))).collect();
    encoded.sort_unstable();
    let pairs: Vec<String> = encoded.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let escaped = digits
            .filter(|_| first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Everything but letters, digits and `-._~` becomes `%XX`.
fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte as char),
            _ => {
                encoded.push('%');
                encoded.push_str(&hex(&[byte]).to_ascii_uppercase());
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_signed_in_one_form() {
        for (query, signed) in [
            ("", ""),
            ("b=2&a=1", "a=1&b=2"),
            ("a", "a="),
            ("a=b/c&&a=%61", "a=a&a=b%2Fc"),
            ("n=%2f%2F+%", "n=%2F%2F%2B%25"),
            ("x=%+f", "x=%25%2Bf"),
        ] {
            assert_eq!(canonical(decode(query).iter()), signed, "{query}");
        }
    }
}
