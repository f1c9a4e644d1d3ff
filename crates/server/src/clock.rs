//! The time, behind a seam: nothing else in the server reads a clock, except tokio's, which tests can stop.

use std::time::{Instant, SystemTime};

/// Now, for measuring how long things take.
#[expect(clippy::disallowed_methods, reason = "the crate's clock")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}

/// Now, as a date.
#[expect(clippy::disallowed_methods, reason = "the crate's clock")]
pub fn system_now() -> SystemTime {
    SystemTime::now()
}
