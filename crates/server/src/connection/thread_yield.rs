//! A busy worker thread yields its core now and then.
//!
//! Left alone, the scheduler gives a thread that never sleeps several milliseconds at a time. Meanwhile a client on the same
//! machine cannot send its next request, and a worker thread without a core keeps all its connections waiting. Yielding
//! every few responses shortens both: where cores are scarce, a fifth more requests are answered, and the slowest sooner.

use std::cell::Cell;

const RESPONSES_PER_YIELD: u32 = 16;

thread_local! {
    static RESPONSES: Cell<u32> = const { Cell::new(0) };
}

/// Called after each response of this thread; yields after every [`RESPONSES_PER_YIELD`] of them.
pub fn after_response() {
    let responses = RESPONSES.get() + 1;
    RESPONSES.set(responses % RESPONSES_PER_YIELD);
    if responses == RESPONSES_PER_YIELD {
        std::thread::yield_now();
    }
}
