//! What fuzz targets (fuzz/) see of the usual request's lane. No part of the crate's interface.

use crate::http::fast_lane::{self, HEADERS, Look, Pairs};
use partita_auth::SignedRequest;

/// What the lane makes of the bytes at hand.
pub enum Seen {
    /// A request that ends here.
    Whole { end: usize },
    /// So many bytes are not here yet, at least.
    Missing(usize),
    /// Left to hyper, or refused.
    Unusual,
}

/// Looks at bytes as the lane does, and shows a whole request.
pub fn look(bytes: &[u8], show: impl FnOnce(&SignedRequest<'_>)) -> Seen {
    let mut pairs: Pairs<'_> = [("", b""); HEADERS];
    match fast_lane::look(bytes, &mut pairs) {
        Look::Whole(request) => {
            show(&request.signed);
            Seen::Whole { end: request.end }
        }
        Look::Missing { bytes, .. } => Seen::Missing(bytes),
        Look::TooLong | Look::Unusual => Seen::Unusual,
    }
}
