//! The signer: the headers that a client adds to authenticate a request.

use crate::canonical::{canonical_request, hex};
use crate::verifier::{SignedRequest, derive_key, hmac};
use crate::{Credential, Headers, date};
use sha2::{Digest, Sha256};

const SERVICE: &str = "dynamodb";

pub struct Signer {
    credential: Credential,
    region: String,
    /// For temporary credentials.
    session_token: Option<String>,
}

/// A request to be signed.
pub struct UnsignedRequest<'a> {
    pub method: &'a str,
    pub host: &'a str,
    pub path: &'a str,
    pub parameters: &'a [(String, String)],
    pub target: &'a str,
    pub body: &'a [u8],
}

impl Signer {
    pub fn new(credential: Credential, region: impl Into<String>) -> Signer {
        Signer { credential, region: region.into(), session_token: None }
    }

    pub fn with_session_token(self, session_token: Option<String>) -> Signer {
        Signer { session_token, ..self }
    }

    /// Signs a POST to `/` and returns its headers; `now` is in seconds since 1970.
    pub fn headers(&self, host: &str, target: &str, body: &[u8], now: i64) -> Vec<(&'static str, String)> {
        self.sign(&UnsignedRequest { method: "POST", host, path: "/", parameters: &[], target, body }, now)
    }

    /// Signs a request and returns its headers.
    pub fn sign(&self, unsigned: &UnsignedRequest<'_>, now: i64) -> Vec<(&'static str, String)> {
        let signed_at = date::format(now);
        let day = signed_at.get(..8).unwrap_or_default();
        let scope = format!("{day}/{}/{SERVICE}/aws4_request", self.region);
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("host", unsigned.host.to_owned()),
            ("x-amz-date", signed_at.clone()),
        ];
        headers.extend(self.session_token.iter().map(|token| ("x-amz-security-token", token.clone())));
        headers.push(("x-amz-target", unsigned.target.to_owned()));
        let signed_headers = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let pairs = pairs(&headers);
        let UnsignedRequest { method, path, parameters, body, .. } = *unsigned;
        let request = SignedRequest { method, path, query: "", headers: Headers::new(&pairs), body };
        let Some(canonical) = canonical_request(&request, parameters, &signed_headers) else {
            unreachable!("every header is named once")
        };
        let digest = hex(&Sha256::digest(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{signed_at}\n{scope}\n{digest}");
        let signature = hex(&hmac(&derive_key(&self.credential, &scope), to_sign.as_bytes()));
        let access_key = &self.credential.access_key;
        headers.push((
            "authorization",
            format!("AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={signed_headers}, Signature={signature}"),
        ));
        headers
    }
}

fn pairs<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a [u8])> {
    headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authentication, Verifier};

    const NOW: i64 = 1_440_938_160;

    #[test]
    fn the_verifier_accepts_what_the_signer_signs() {
        let credential = || Credential::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let signer = Signer::new(credential(), "us-east-1");
        let verifier = Authentication::Verified(Verifier::new([credential()]));
        let headers = signer.headers("localhost:8000", "DynamoDB_20120810.ListTables", b"{}", NOW);
        let pairs = pairs(&headers);
        let headers = Headers::new(&pairs);
        let request = |body| SignedRequest { method: "POST", path: "/", query: "", headers, body };
        assert!(verifier.check(&request(b"{}"), NOW as u64).is_ok());
        assert!(verifier.check(&request(b"{ }"), NOW as u64).is_err());
    }

    #[test]
    fn any_method_path_and_query_can_be_signed() {
        let credential = || Credential::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let signer = Signer::new(credential(), "us-east-1").with_session_token(Some("token".to_owned()));
        let verifier = Authentication::Verified(Verifier::new([credential()]));
        let parameters = [("table".to_owned(), "Shop".to_owned()), ("mode".to_owned(), "warn".to_owned())];
        let call = UnsignedRequest {
            method: "PUT",
            host: "localhost",
            path: "/a",
            parameters: &parameters,
            target: "",
            body: b"x",
        };
        let headers = signer.sign(&call, NOW);
        let pairs = pairs(&headers);
        let headers = Headers::new(&pairs);
        let request = |query| SignedRequest { method: "PUT", path: "/a", query, headers, body: b"x" };
        assert!(verifier.check(&request("table=Shop&mode=warn"), NOW as u64).is_ok());
        assert!(verifier.check(&request("table=Other&mode=warn"), NOW as u64).is_err());
    }
}
