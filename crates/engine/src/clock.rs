//! The clock, which tests can replace with one that they control.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The source of the current time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The clock of the operating system.
    System,
    /// Milliseconds since 1970, set by hand.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Milliseconds since 1970.
    #[expect(clippy::disallowed_methods, reason = "the crate's clock")]
    pub fn now_millis(&self) -> u64 {
        match self {
            Clock::System => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as u64)
            }
            Clock::Manual(millis) => millis.load(Ordering::Relaxed),
        }
    }

    /// Seconds since 1970.
    pub fn now_seconds(&self) -> u64 {
        self.now_millis() / 1_000
    }
}

/// Now, for measuring how long things take.
#[expect(clippy::disallowed_methods, reason = "the crate's clock")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}
