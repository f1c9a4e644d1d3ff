//! The signer: what a client adds to a request so that it is known whose it is.

use crate::canonical::{canonical_request, hex};
use crate::verifier::{SignedRequest, derive_key, hmac};
use crate::{Credential, Headers, date};
use sha2::{Digest, Sha256};

const SERVICE: &str = "dynamodb";
const SIGNED_HEADERS: &str = "content-type;host;x-amz-date;x-amz-target";

pub struct Signer {
    credential: Credential,
    region: String,
}

impl Signer {
    pub fn new(credential: Credential, region: impl Into<String>) -> Signer {
        Signer { credential, region: region.into() }
    }

    /// The headers of a signed POST to `/`; `now` is in seconds since 1970.
    pub fn headers(&self, host: &str, target: &str, body: &[u8], now: i64) -> Vec<(&'static str, String)> {
        let signed_at = date::format(now);
        let day = signed_at.get(..8).unwrap_or_default();
        let scope = format!("{day}/{}/{SERVICE}/aws4_request", self.region);
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("host", host.to_owned()),
            ("x-amz-date", signed_at.clone()),
            ("x-amz-target", target.to_owned()),
        ];
        let pairs = pairs(&headers);
        let request =
            SignedRequest { method: "POST", path: "/", query: "", headers: Headers::new(&pairs), body };
        let canonical = canonical_request(&request, &[], SIGNED_HEADERS);
        let digest = hex(&Sha256::digest(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{signed_at}\n{scope}\n{digest}");
        let signature = hex(&hmac(&derive_key(&self.credential, &scope), to_sign.as_bytes()));
        let access_key = &self.credential.access_key;
        headers.push((
            "authorization",
            format!("AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={SIGNED_HEADERS}, Signature={signature}"),
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
    fn what_the_signer_signs_the_verifier_accepts() {
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
}
