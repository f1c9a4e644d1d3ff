//! A progress bar on standard error, if that is a terminal.

use crate::clock;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WIDTH: u64 = 30;
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

pub struct ProgressBar {
    total: u64,
    /// What is counted, in the plural.
    unit: &'static str,
    done: AtomicU64,
    start: Instant,
    drawn: Mutex<Instant>,
    is_visible: bool,
}

impl ProgressBar {
    pub fn new(total: u64) -> ProgressBar {
        ProgressBar::counting(total, "items")
    }

    pub fn counting(total: u64, unit: &'static str) -> ProgressBar {
        let start = clock::monotonic_now();
        let is_visible = std::io::stderr().is_terminal();
        ProgressBar {
            total: total.max(1),
            unit,
            done: AtomicU64::new(0),
            start,
            drawn: Mutex::new(start),
            is_visible,
        }
    }

    pub fn advance(&self, items: u64) {
        let done = self.done.fetch_add(items, Ordering::Relaxed) + items;
        if !self.is_visible {
            return;
        }
        if let Ok(mut drawn) = self.drawn.try_lock()
            && (drawn.elapsed() >= REDRAW_INTERVAL || done >= self.total)
        {
            *drawn = clock::monotonic_now();
            self.draw(done.min(self.total));
        }
    }

    /// Ends the line; returns the count and the seconds elapsed.
    pub fn finish(&self) -> (u64, f64) {
        if self.is_visible {
            eprintln!();
        }
        (self.done.load(Ordering::Relaxed), self.start.elapsed().as_secs_f64())
    }

    fn draw(&self, done: u64) {
        let filled = (done * WIDTH / self.total) as usize;
        let rate = done as f64 / self.start.elapsed().as_secs_f64().max(0.001);
        let left = (self.total - done) as f64 / rate.max(0.001);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH as usize - filled));
        let mut out = std::io::stderr().lock();
        // A bar that cannot be drawn is not a reason to stop.
        let _ = write!(out, "\r{bar} {done}/{} {}, {rate:.0}/s, {left:.0} s left   ", self.total, self.unit);
        let _ = out.flush();
    }
}
