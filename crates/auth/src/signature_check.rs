//! A signature whose parts are valid and that remains to be compared with the request, for which the body must be hashed.
//!
//! To hash a large body takes a while. It can be done in pieces, so that the caller can yield in between.

use crate::canonical::{hex, push_hex};
use hmac::{Hmac, Mac};
use partita_api::{Exception, ExceptionKind};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The number of hexadecimal digits in a signature.
const DIGITS: usize = 64;

pub struct SignatureCheck {
    body: Sha256,
    /// The canonical request, up to the hash of the body.
    canonical: String,
    /// The string to sign, up to the hash of the canonical request.
    to_sign: String,
    mac: Hmac<Sha256>,
    /// The client's signature; `None` if it has the wrong length.
    signature: Option<[u8; DIGITS]>,
}

impl SignatureCheck {
    pub(crate) fn new(
        canonical: String,
        to_sign: String,
        mac: Hmac<Sha256>,
        signature: &str,
    ) -> SignatureCheck {
        let signature = signature.as_bytes().try_into().ok();
        SignatureCheck { body: Sha256::new(), canonical, to_sign, mac, signature }
    }

    /// Hashes the next piece of the body.
    pub fn hash(&mut self, piece: &[u8]) {
        self.body.update(piece);
    }

    /// Compares the signatures, once the whole body was hashed.
    pub fn finish(mut self) -> Result<(), Exception> {
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
