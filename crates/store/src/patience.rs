//! Whether the current thread may be kept waiting for the disk.
//!
//! A thread that serves many callers must not: it hands its decisions to the store's writer and goes on. A thread
//! that serves one has nothing else to do, and saves the way to the writer and back by committing itself.

use std::cell::Cell;

thread_local! {
    static PATIENT: Cell<bool> = const { Cell::new(false) };
}

/// Says whether the current thread may wait. At first it may not.
pub fn set(patient: bool) {
    PATIENT.set(patient);
}

pub fn is_patient() -> bool {
    PATIENT.get()
}
