//! What bulk operations keep in memory from step to step: their objects, the object that is open, how fast they
//! were. After a restart all of it is made again.

use crate::bucket::{Bucket, Listed};
use crate::object_source::OpenObject;
use partita_api::exchange::ExchangeFailure;
use std::collections::HashMap;

/// By the operations' ids.
pub type BulkWork = HashMap<String, Workplace>;

#[derive(Default)]
pub struct Workplace {
    objects: Option<Vec<Listed>>,
    pub open: Option<OpenObject>,
    pub pace: Pace,
}

impl Workplace {
    /// The objects with a prefix, in order. They are listed once: they must not change meanwhile.
    pub fn objects(&mut self, bucket: &Bucket, prefix: &str) -> Result<&[Listed], ExchangeFailure> {
        if self.objects.is_none() {
            self.objects = Some(bucket.list(prefix)?);
        }
        Ok(self.objects.as_deref().unwrap_or_default())
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
