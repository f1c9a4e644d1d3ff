//! Whether the current thread may block on the disk.
//!
//! A thread that serves many callers must not: it queues its decisions for the store's writer and continues. A thread
//! that serves only one caller has nothing else to do, and saves two thread switches by committing itself.

use std::cell::Cell;

thread_local! {
    static ALLOWED: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether the current thread may block. Initially it may not.
pub fn set_allowed(allowed: bool) {
    ALLOWED.set(allowed);
}

/// Returns whether the current thread may block.
pub fn is_allowed() -> bool {
    ALLOWED.get()
}
