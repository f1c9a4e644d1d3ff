//! The parts of a signature, read from a header or from query parameters.

use base64::{Engine, engine::general_purpose::STANDARD};
use partita_api::{Exception, ExceptionKind};
use sha2::{Digest, Sha256};

/// The prefix of all of AWS's signature schemes.
pub const SCHEME: &str = "AWS4-";

/// The required parts of an `Authorization` header, in the order in which AWS reports missing ones.
const HEADER_PARTS: [&str; 3] = ["Credential", "Signature", "SignedHeaders"];

/// The parts of a signature, as a request states them.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    pub algorithm: &'a str,
    pub credential: &'a str,
    pub signed_headers: &'a str,
    pub signature: &'a str,
    /// When it was signed: `20261115T184454Z`.
    pub signed_at: &'a str,
    /// For how many seconds a presigned request is valid.
    pub expires: Option<&'a str>,
}

impl<'a> Signature<'a> {
    /// `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`
    pub fn from_header(header: &'a str, date: Option<&'a str>) -> Result<Signature<'a>, Exception> {
        let (algorithm, parameters) = header.split_once(' ').unwrap_or((header, ""));
        let mut parts = [None; 3];
        for part in parameters.split(' ').flat_map(|words| words.split(',')) {
            let Some((name, value)) = part.split_once('=').filter(|(_, value)| !value.is_empty()) else {
                continue;
            };
            if let Some(index) = HEADER_PARTS.iter().position(|known| *known == name) {
                parts[index].get_or_insert(value);
            }
        }
        let date = date.filter(|date| !date.is_empty());
        let ([Some(credential), Some(signature), Some(signed_headers)], Some(signed_at)) = (parts, date)
        else {
            return Err(incomplete_header(header, parts, date));
        };
        Ok(Signature { algorithm, credential, signed_headers, signature, signed_at, expires: None })
    }

    /// `?X-Amz-Algorithm=…&X-Amz-Credential=…&…`, already percent-decoded.
    pub fn from_query(parameters: &'a [(String, String)]) -> Result<Signature<'a>, Exception> {
        const NAMES: [&str; 5] =
            ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"];
        let parameter = |name: &str| {
            let mut parameters = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            parameters
                .find(|(candidate, value)| *candidate == name && !value.is_empty())
                .map(|(_, value)| value)
        };
        let parts = NAMES.map(parameter);
        let [Some(algorithm), Some(credential), Some(signature), Some(signed_headers), Some(signed_at)] =
            parts
        else {
            let missing = NAMES.iter().zip(parts).filter(|(_, part)| part.is_none());
            let texts =
                missing.map(|(name, _)| format!("AWS query-string parameters must include '{name}'. "));
            return Err(incomplete(texts.collect::<String>() + "Re-examine the query-string parameters."));
        };
        let expires = parameter("X-Amz-Expires");
        Ok(Signature { algorithm, credential, signed_headers, signature, signed_at, expires })
    }

    /// The access key and the scope: `date/region/service/aws4_request`.
    pub fn access_key_and_scope(&self) -> Result<(&'a str, Scope<'a>), Exception> {
        let parts = self.credential.split_once('/').and_then(|(access_key, scope)| {
            let parts: Vec<&str> = scope.split('/').collect();
            let [date, _region, service, terminator] = parts[..] else { return None };
            Some((access_key, Scope { text: scope, date, service, terminator }))
        });
        parts.ok_or_else(|| {
            incomplete(format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{}'",
                self.credential
            ))
        })
    }
}

/// The scope for which a signing key is valid.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    pub text: &'a str,
    pub date: &'a str,
    pub service: &'a str,
    pub terminator: &'a str,
}

pub fn incomplete(message: impl Into<String>) -> Exception {
    Exception::new(ExceptionKind::IncompleteSignatureException, message)
}

/// Names everything that is missing. Only a hash of the header is included, because it may contain secrets.
fn incomplete_header(header: &str, parts: [Option<&str>; 3], date: Option<&str>) -> Exception {
    let mut message = String::new();
    for (part, name) in parts.into_iter().zip(HEADER_PARTS) {
        if part.is_none() {
            message.push_str(&format!("Authorization header requires '{name}' parameter. "));
        }
    }
    if date.is_none() {
        message.push_str(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ",
        );
    }
    message.push_str("(Hashed with SHA-256 and encoded with Base64) Authorization=");
    message.push_str(&STANDARD.encode(Sha256::digest(header.as_bytes())));
    incomplete(message)
}
