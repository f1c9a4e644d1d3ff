//! Background work that failed waits before it is tried again, each piece of it by itself: the others go on.

use crate::clock;
use crate::maintenance::Progress;
use partita_api::Exception;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What waits, by its name. It is not stored: after a restart everything is tried at once.
#[derive(Default)]
pub struct Pauses(Mutex<HashMap<String, Pause>>);

struct Pause {
    length: Duration,
    until: Instant,
}

impl Pauses {
    fn locked(&self) -> MutexGuard<'_, HashMap<String, Pause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a step of a piece of work, unless it waits.
    pub async fn step(
        &self,
        name: &str,
        step: impl Future<Output = Result<Progress, Exception>>,
    ) -> Progress {
        if self.is_waiting(name) {
            return Progress::Done;
        }
        self.judge(name, step.await)
    }

    pub fn is_waiting(&self, name: &str) -> bool {
        self.locked().get(name).is_some_and(|pause| clock::monotonic_now() < pause.until)
    }

    /// What becomes of a step of one piece of work. If it failed, that is told, and the piece has to wait, longer each time.
    pub fn judge(&self, name: &str, step: Result<Progress, Exception>) -> Progress {
        match step {
            Ok(progress) => {
                self.locked().remove(name);
                progress
            }
            Err(exception) => {
                tracing::error!(work = name, message = exception.message, "background work failed");
                let mut pauses = self.locked();
                let former = pauses.get(name).map(|pause| pause.length * 2);
                let length = former.map_or(FIRST_PAUSE, |length| length.min(LONGEST_PAUSE));
                pauses.insert(name.to_owned(), Pause { length, until: clock::monotonic_now() + length });
                // Others may be due.
                Progress::More
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waits_by_itself() {
        let pauses = Pauses::default();
        assert_eq!(pauses.judge("one", Err(Exception::internal("full"))), Progress::More);
        assert!(pauses.is_waiting("one") && !pauses.is_waiting("other"));
        pauses.judge("one", Err(Exception::internal("full")));
        assert_eq!(pauses.locked().get("one").map(|pause| pause.length), Some(FIRST_PAUSE * 2));
        assert_eq!(pauses.judge("one", Ok(Progress::Done)), Progress::Done);
        assert!(!pauses.is_waiting("one"));
    }
}
