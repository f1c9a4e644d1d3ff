//! Lets transactions in, and shuts them out for the moment in which the map is grown.
//!
//! LMDB must not change its map while a transaction is alive. Every transaction holds a [`Pass`]; to be alone, one
//! shuts the gate, waits until all passes are given back, works, and opens the gate again. Passing costs two
//! atomic additions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

const SHUT: u64 = 1 << 63;

#[derive(Default)]
pub(crate) struct Gate {
    /// How many passes are out, and [`SHUT`] while somebody wants to be alone.
    passes: AtomicU64,
    /// Held by whoever is alone.
    alone: Mutex<()>,
    /// All passes came back, or the gate was opened again.
    changed: Condvar,
}

impl Gate {
    /// Waits while the gate is shut.
    pub fn pass(&self) -> Pass<'_> {
        loop {
            if self.passes.fetch_add(1, Ordering::SeqCst) & SHUT == 0 {
                return Pass { gate: self };
            }
            self.give_back();
            let mut guard = self.lock();
            while self.passes.load(Ordering::SeqCst) & SHUT != 0 {
                guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Runs `work` while nobody holds a pass. The caller must hold none itself.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut guard = self.lock();
        self.passes.fetch_or(SHUT, Ordering::SeqCst);
        while self.passes.load(Ordering::SeqCst) != SHUT {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        let result = work();
        self.passes.fetch_and(!SHUT, Ordering::SeqCst);
        self.changed.notify_all();
        drop(guard);
        result
    }

    fn give_back(&self) {
        if self.passes.fetch_sub(1, Ordering::SeqCst) == SHUT | 1 {
            // Under the lock, so that the one who waits cannot miss it between its look and its wait.
            let guard = self.lock();
            self.changed.notify_all();
            drop(guard);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to have one transaction open.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.gate.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn nobody_passes_while_somebody_is_alone() {
        let gate = Gate::default();
        let inside = AtomicBool::new(false);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !over.load(Ordering::SeqCst) {
                        let _pass = gate.pass();
                        assert!(!inside.load(Ordering::SeqCst));
                    }
                });
            }
            for _ in 0..200 {
                gate.alone(|| {
                    inside.store(true, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.store(false, Ordering::SeqCst);
                });
            }
            over.store(true, Ordering::SeqCst);
        });
    }
}
