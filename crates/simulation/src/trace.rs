//! What happened, in order: a sum over all of it, and the last of it in words.

use std::collections::VecDeque;

/// How much of it is told in words.
const KEPT: usize = 300;

#[derive(Default)]
pub struct Trace {
    sum: u64,
    events: u64,
    last: VecDeque<String>,
}

impl Trace {
    pub fn note(&mut self, event: String) {
        for byte in event.bytes().chain([b'\n']) {
            // FNV-1a
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.events += 1;
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(event);
    }

    /// Two runs with equal sums did the same.
    pub fn sum(&self) -> (u64, u64) {
        (self.sum, self.events)
    }

    pub fn last(&self) -> String {
        self.last.iter().map(|event| format!("  {event}\n")).collect()
    }
}
