//! Exponential backoff for background work that failed, separately for each task, so that the others continue.

use crate::clock;
use crate::maintenance::Progress;
use partita_api::Exception;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The tasks that are backing off, by name. This is not stored: after a restart every task is retried immediately.
#[derive(Default)]
pub struct Backoffs(Mutex<HashMap<String, Backoff>>);

struct Backoff {
    delay: Duration,
    until: Instant,
}

impl Backoffs {
    fn locked(&self) -> MutexGuard<'_, HashMap<String, Backoff>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a step of a task, unless the task is backing off.
    pub async fn step(
        &self,
        name: &str,
        step: impl Future<Output = Result<Progress, Exception>>,
    ) -> Progress {
        if self.is_backing_off(name) {
            return Progress::Done;
        }
        self.record(name, step.await)
    }

    pub fn is_backing_off(&self, name: &str) -> bool {
        self.locked().get(name).is_some_and(|backoff| clock::monotonic_now() < backoff.until)
    }

    /// Records the outcome of a task's step. A failure is logged, and doubles the task's delay.
    pub fn record(&self, name: &str, step: Result<Progress, Exception>) -> Progress {
        match step {
            Ok(progress) => {
                self.locked().remove(name);
                progress
            }
            Err(exception) => {
                tracing::error!(work = name, message = exception.message, "background work failed");
                let mut backoffs = self.locked();
                let doubled = backoffs.get(name).map(|backoff| backoff.delay * 2);
                let delay = doubled.map_or(FIRST_DELAY, |delay| delay.min(LONGEST_DELAY));
                backoffs.insert(name.to_owned(), Backoff { delay, until: clock::monotonic_now() + delay });
                // Other tasks may be due.
                Progress::More
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_backs_off_separately() {
        let backoffs = Backoffs::default();
        assert_eq!(backoffs.record("one", Err(Exception::internal("full"))), Progress::More);
        assert!(backoffs.is_backing_off("one") && !backoffs.is_backing_off("other"));
        backoffs.record("one", Err(Exception::internal("full")));
        assert_eq!(backoffs.locked().get("one").map(|backoff| backoff.delay), Some(FIRST_DELAY * 2));
        assert_eq!(backoffs.record("one", Ok(Progress::Done)), Progress::Done);
        assert!(!backoffs.is_backing_off("one"));
    }
}
