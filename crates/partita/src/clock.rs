//! The time, behind a seam: nothing else in the program reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Now, for measuring how long things take.
#[expect(clippy::disallowed_methods, reason = "the crate's clock")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the crate's clock")]
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
