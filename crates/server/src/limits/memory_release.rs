//! Returns memory to the operating system shortly after large pieces were freed.
//!
//! An allocator keeps what a thread has freed for that thread to use again. After a burst of large requests that memory is
//! missing elsewhere.

use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::Handle;

/// Bursts last for a while; one release after each is enough.
const DELAY: Duration = Duration::from_millis(250);

/// How many closed connections are worth a release.
const CONNECTIONS: u32 = 32;

thread_local! {
    static IS_DUE: Cell<bool> = const { Cell::new(false) };
    static CLOSED_CONNECTIONS: Cell<u32> = const { Cell::new(0) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Declares that the current thread serves connections.
pub fn mark_worker_thread() {
    IS_WORKER.set(true);
}

/// A connection has ended on this thread.
pub fn connection_ended(release: fn()) {
    let closed = CLOSED_CONNECTIONS.get() + 1;
    CLOSED_CONNECTIONS.set(closed % CONNECTIONS);
    if closed == CONNECTIONS {
        schedule(release);
    }
}

/// Calls `release` on this thread after [`DELAY`], once for all calls until then. A thread that serves no connections calls
/// it immediately.
pub fn schedule(release: fn()) {
    let Ok(runtime) = Handle::try_current() else { return };
    if !IS_WORKER.get() {
        return release();
    }
    if IS_DUE.replace(true) {
        return;
    }
    runtime.spawn(async move {
        tokio::time::sleep(DELAY).await;
        IS_DUE.set(false);
        release();
    });
}
