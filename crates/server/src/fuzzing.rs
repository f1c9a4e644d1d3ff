//! Access to the fast lane's parser for fuzz targets (fuzz/). Not part of the crate's interface.

use crate::http::fast_lane::{self, HeaderPairs, MAX_HEADERS, Parsed};
use partita_auth::SignedRequest;

/// The result of parsing bytes.
pub enum ParsedBytes {
    /// A request that ends here.
    Complete { end: usize },
    /// At least this many bytes are missing.
    Incomplete(usize),
    /// Left to hyper, or refused.
    Unusual,
}

/// Parses bytes as the fast lane does, and passes a complete request to `inspect`.
pub fn parse(bytes: &[u8], inspect: impl FnOnce(&SignedRequest<'_>)) -> ParsedBytes {
    let mut pairs: HeaderPairs<'_> = [("", b""); MAX_HEADERS];
    match fast_lane::parse(bytes, &mut pairs) {
        Parsed::Complete(request) => {
            inspect(&request.signed);
            ParsedBytes::Complete { end: request.end }
        }
        Parsed::Incomplete { missing, .. } => ParsedBytes::Incomplete(missing),
        Parsed::HeadTooLong | Parsed::Unusual => ParsedBytes::Unusual,
    }
}
