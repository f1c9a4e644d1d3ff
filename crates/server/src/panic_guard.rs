//! Catches panics, so that a bug in one request does not end its connection.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Runs a future; `None` if it panicked. It is pinned by the caller: passed by value it would take its memory twice.
pub async fn guard<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => {
            tracing::error!("a request panicked; this is a bug in Partita");
            Poll::Ready(None)
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[tokio::test]
    async fn a_panic_becomes_none() {
        assert_eq!(guard(pin!(async { 1 })).await, Some(1));
        assert_eq!(
            guard(pin!(async {
                if true {
                    panic!("on purpose")
                }
            }))
            .await,
            None
        );
    }
}
