//! For tests: how often work lets others on its thread have their turn.

use std::future::Future;
use std::pin::pin;

/// What work comes to, and how often it gave way.
pub async fn turns_beside<T>(work: impl Future<Output = T>) -> (T, usize) {
    let (mut work, mut turns) = (pin!(work), 0);
    let done = std::future::poll_fn(|context| {
        let polled = work.as_mut().poll(context);
        turns += usize::from(polled.is_pending());
        polled
    });
    (done.await, turns)
}
