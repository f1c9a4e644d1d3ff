//! A signature of which all is known to be right but whether it fits the request: for that, the body must be hashed.
//!
//! To hash a large body takes a while. It can be done in pieces, so that others have their turn in between.

use crate::canonical::{hex, push_hex};
use hmac::{Hmac, Mac};
use partita_api::{Exception, ExceptionKind};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A signature's digits.
const DIGITS: usize = 64;

pub struct Claim {
    body: Sha256,
    /// What was signed, up to the hash of the body.
    canonical: String,
    /// … and what is made of that, up to its hash.
    to_sign: String,
    mac: Hmac<Sha256>,
    /// What the client says it comes to; none if it cannot be one.
    signature: Option<[u8; DIGITS]>,
}

impl Claim {
    pub(crate) fn new(canonical: String, to_sign: String, mac: Hmac<Sha256>, signature: &str) -> Claim {
        let signature = signature.as_bytes().try_into().ok();
        Claim { body: Sha256::new(), canonical, to_sign, mac, signature }
    }

    /// The next piece of the body.
    pub fn hash(&mut self, piece: &[u8]) {
        self.body.update(piece);
    }

    /// Whether it is true, once the whole body was hashed.
    pub fn check(mut self) -> Result<(), Exception> {
        push_hex(&mut self.canonical, &self.body.finalize());
        push_hex(&mut self.to_sign, &Sha256::digest(self.canonical.as_bytes()));
        self.mac.update(self.to_sign.as_bytes());
        let expected = hex(&self.mac.finalize().into_bytes());
        match self.signature {
            Some(signature) if bool::from(expected.as_bytes().ct_eq(&signature)) => Ok(()),
            _ => Err(Exception::new(
                ExceptionKind::InvalidSignatureException,
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
            )),
        }
    }
}
