//! What imports and bulk operations keep in memory from step to step, by their ids: the objects and the one that is open, and how
//! fast they were. After a restart all of it is made again.

use crate::exchange::object_source::OpenSource;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct Workplaces {
    sources: Mutex<HashMap<String, OpenSource>>,
    paces: Mutex<HashMap<String, Pace>>,
}

impl Workplaces {
    /// A step takes it, and puts it back when it has read.
    pub fn take_source(&self, id: &str) -> OpenSource {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).remove(id).unwrap_or_default()
    }

    pub fn put_source_back(&self, id: &str, source: OpenSource) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), source);
    }

    pub fn with_pace<T>(&self, id: &str, work: impl FnOnce(&mut Pace) -> T) -> T {
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        work(paces.entry(id.to_owned()).or_default())
    }

    /// It has ended.
    pub fn forget(&self, id: &str) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.paces.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// Units written of late. They fade at the rate that is allowed; more than a second's worth makes the operation wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    milliunits: u64,
    at_millis: u64,
}

impl Pace {
    pub fn is_due(&mut self, units_per_second: u64, now_millis: u64) -> bool {
        let faded = now_millis.saturating_sub(self.at_millis).saturating_mul(units_per_second);
        self.milliunits = self.milliunits.saturating_sub(faded);
        self.at_millis = now_millis;
        self.milliunits < units_per_second.saturating_mul(1_000)
    }

    pub fn spend(&mut self, units: u64) {
        self.milliunits = self.milliunits.saturating_add(units.saturating_mul(1_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_spent_than_allowed() {
        let mut pace = Pace::default();
        let mut spent = 0;
        for millis in 1_000_000..1_010_000 {
            while pace.is_due(1_024, millis) {
                pace.spend(300);
                spent += 300;
            }
        }
        // Ten seconds' worth, and a second's that was free at the beginning.
        assert!((10 * 1_024..=11 * 1_024 + 300).contains(&spent), "{spent}");
    }
}
