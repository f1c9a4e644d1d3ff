//! What imports and bulk operations keep in memory between steps, by id: the open source and the write rate. It is built again
//! after a restart.

use crate::exchange::object_source::OpenSource;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct StepState {
    sources: Mutex<HashMap<String, OpenSource>>,
    rate_limiters: Mutex<HashMap<String, RateLimiter>>,
}

impl StepState {
    fn sources(&self) -> MutexGuard<'_, HashMap<String, OpenSource>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rate_limiters(&self) -> MutexGuard<'_, HashMap<String, RateLimiter>> {
        self.rate_limiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the source to a step, which returns it when it has read: no lock is held while a bucket is read.
    pub fn take_source(&self, id: &str) -> OpenSource {
        self.sources().remove(id).unwrap_or_default()
    }

    pub fn return_source(&self, id: &str, source: OpenSource) {
        self.sources().insert(id.to_owned(), source);
    }

    pub fn with_rate_limiter<T>(&self, id: &str, work: impl FnOnce(&mut RateLimiter) -> T) -> T {
        work(self.rate_limiters().entry(id.to_owned()).or_default())
    }

    /// Drops the state of an import or bulk operation that has ended.
    pub fn remove(&self, id: &str) {
        self.sources().remove(id);
        self.rate_limiters().remove(id);
    }
}

/// A leaky bucket: written units drain at the permitted rate, and more than one second's worth delays the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimiter {
    milliunits: u64,
    at_millis: u64,
}

impl RateLimiter {
    pub fn may_write(&mut self, units_per_second: u64, now_millis: u64) -> bool {
        let drained = now_millis.saturating_sub(self.at_millis).saturating_mul(units_per_second);
        self.milliunits = self.milliunits.saturating_sub(drained);
        self.at_millis = now_millis;
        self.milliunits < units_per_second.saturating_mul(1_000)
    }

    pub fn add(&mut self, units: u64) {
        self.milliunits = self.milliunits.saturating_add(units.saturating_mul(1_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_written_than_permitted() {
        let mut limiter = RateLimiter::default();
        let mut written = 0;
        for millis in 1_000_000..1_010_000 {
            while limiter.may_write(1_024, millis) {
                limiter.add(300);
                written += 300;
            }
        }
        // Ten seconds' worth, and the burst of one second at the start.
        assert!((10 * 1_024..=11 * 1_024 + 300).contains(&written), "{written}");
    }
}
