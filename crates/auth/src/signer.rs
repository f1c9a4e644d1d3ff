//! The other side: signs requests as an SDK does.

use crate::canonical::{canonical_request, hex};
use crate::verifier::{SignedRequest, hmac, signing_key};
use crate::{Credential, date};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

const SIGNED_HEADERS: &str = "content-type;host;x-amz-date;x-amz-target";

/// Signs requests to one service of one region.
pub struct Signer {
    credential: Credential,
    region: String,
    service: String,
}

/// The headers that make a request a signed one.
pub struct SignatureHeaders {
    /// `X-Amz-Date`.
    pub date: String,
    /// `Authorization`.
    pub authorization: String,
}

impl Signer {
    pub fn new(credential: Credential, region: &str, service: &str) -> Signer {
        Signer { credential, region: region.to_owned(), service: service.to_owned() }
    }

    /// Signs a POST of a JSON body to `/`, now.
    pub fn sign(&self, host: &str, target: &str, body: &[u8]) -> SignatureHeaders {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let date = date::format(now as i64);
        let mut headers = HeaderMap::new();
        let signed = [
            ("content-type", "application/x-amz-json-1.0"),
            ("host", host),
            ("x-amz-date", &date),
            ("x-amz-target", target),
        ];
        for (name, value) in signed {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        let request = SignedRequest { method: "POST", path: "/", query: "", headers: &headers, body };
        let scope = format!("{}/{}/{}/aws4_request", &date[..8], self.region, self.service);
        let canonical = canonical_request(&request, &[], SIGNED_HEADERS);
        let to_sign =
            format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
        let signature = hex(&hmac(&signing_key(&self.credential, &scope), to_sign.as_bytes()));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={SIGNED_HEADERS}, Signature={signature}",
            self.credential.access_key
        );
        SignatureHeaders { date, authorization }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authentication, Verifier};

    #[test]
    fn what_is_signed_is_verified() {
        let credential = Credential::new("key", "secret");
        let signed = Signer::new(credential.clone(), "us-east-1", "dynamodb").sign(
            "localhost:8000",
            "DynamoDB_20120810.ListTables",
            b"{}",
        );
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", signed.authorization.as_str()),
            ("content-type", "application/x-amz-json-1.0"),
            ("host", "localhost:8000"),
            ("x-amz-date", &signed.date),
            ("x-amz-target", "DynamoDB_20120810.ListTables"),
        ] {
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        let request = SignedRequest { method: "POST", path: "/", query: "", headers: &headers, body: b"{}" };
        let now = date::parse(&signed.date).unwrap() as u64;
        assert_eq!(Authentication::Verified(Verifier::new([credential])).check(&request, now), Ok(()));
        let stranger = Authentication::Verified(Verifier::new([Credential::new("key", "other")]));
        assert!(stranger.check(&request, now).is_err());
    }
}
