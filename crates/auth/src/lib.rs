//! AWS Signature Version 4: who sent a request, and is it theirs.
//!
//! One verifier for header-signed and presigned requests. The body that arrived is what is hashed; the
//! comparison takes the same time whatever differs; secrets and expected signatures are never shown.

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
pub use signature_check::Claim;
pub use signer::{Call, Signer};
pub use verifier::{Authentication, SignedRequest, Verifier};
