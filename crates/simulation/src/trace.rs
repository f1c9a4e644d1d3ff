//! What happened, in order: a hash of all events, and the last ones as text.

use std::collections::VecDeque;

/// How many events are kept as text.
const MAX_EVENTS: usize = 300;

#[derive(Default)]
pub struct Trace {
    hash: u64,
    events: u64,
    last: VecDeque<String>,
}

impl Trace {
    pub fn record(&mut self, event: String) {
        self.record_with(event, "");
    }

    /// Like [`Trace::record`], with details that may contain random values of the process and are not hashed.
    pub fn record_with(&mut self, event: String, details: &str) {
        for byte in event.bytes().chain([b'\n']) {
            // FNV-1a
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.events += 1;
        if self.last.len() == MAX_EVENTS {
            self.last.pop_front();
        }
        self.last.push_back(event + details);
    }

    /// Two runs with equal hashes did the same.
    pub fn hash(&self) -> (u64, u64) {
        (self.hash, self.events)
    }

    pub fn last(&self) -> String {
        self.last.iter().map(|event| format!("  {event}\n")).collect()
    }
}
