//! For tests: counts how often a future yields to others on its thread.

use std::future::Future;
use std::pin::pin;

/// Returns the future's output and how often it was pending.
pub async fn count_yields<T>(future: impl Future<Output = T>) -> (T, usize) {
    let (mut future, mut yields) = (pin!(future), 0);
    let done = std::future::poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        yields += usize::from(polled.is_pending());
        polled
    });
    (done.await, yields)
}
