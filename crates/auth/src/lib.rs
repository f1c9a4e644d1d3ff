//! AWS Signature Version 4: verifies who sent a request, and signs requests.
//!
//! One verifier serves header-signed and presigned requests. The body that arrived is hashed; signatures are compared in
//! constant time; secrets and expected signatures are never revealed.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod canonical;
mod credential;
mod date;
mod headers;
mod query;
mod signature;
mod signature_check;
mod signer;
mod verifier;

pub use credential::Credential;
pub use headers::Headers;
pub use signature_check::SignatureCheck;
pub use signer::{Signer, UnsignedRequest};
pub use verifier::{Authentication, SignedRequest, Verifier};
