//! Hands memory back to the system a moment after large pieces were freed.
//!
//! An allocator keeps what a thread has freed, for the same thread to use again. After a burst of large requests that
//! is memory that others miss.

use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::Handle;

/// Bursts last; once after each is enough.
const DELAY: Duration = Duration::from_millis(250);

/// So many connections that ended have left enough behind.
const CONNECTIONS: u32 = 32;

thread_local! {
    static IS_DUE: Cell<bool> = const { Cell::new(false) };
    static ENDED: Cell<u32> = const { Cell::new(0) };
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// This thread serves connections.
pub fn this_thread_serves() {
    SERVES.set(true);
}

/// A connection has ended on this thread.
pub fn connection_ended(give_back: fn()) {
    let ended = ENDED.get() + 1;
    ENDED.set(ended % CONNECTIONS);
    if ended == CONNECTIONS {
        soon(give_back);
    }
}

/// Calls `give_back` on this thread in a moment, once for all who ask until then. A thread that serves no connections does
/// it at once.
pub fn soon(give_back: fn()) {
    let Ok(runtime) = Handle::try_current() else { return };
    if !SERVES.get() {
        return give_back();
    }
    if IS_DUE.replace(true) {
        return;
    }
    runtime.spawn(async move {
        tokio::time::sleep(DELAY).await;
        IS_DUE.set(false);
        give_back();
    });
}
