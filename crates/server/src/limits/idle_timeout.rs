//! How long a client may send nothing. While it sends, this costs a look at the clock: the timer is moved only when it
//! fires too early.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

pub struct IdleTimeout {
    limit: Duration,
    last_activity: Instant,
    timer: Pin<Box<Sleep>>,
}

impl IdleTimeout {
    pub fn new(limit: Duration) -> IdleTimeout {
        IdleTimeout { limit, last_activity: Instant::now(), timer: Box::pin(sleep(limit)) }
    }

    /// Starts over, and returns the current time.
    pub fn reset(&mut self) -> Instant {
        self.last_activity = Instant::now();
        self.last_activity
    }

    /// Ready once the client has been idle for too long.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(context));
            let end = self.last_activity + self.limit;
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn it_counts_from_the_last_activity() {
        let begin = Instant::now();
        let mut timeout = IdleTimeout::new(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_secs(7)).await;
        timeout.reset();
        poll_fn(|context| timeout.poll(context)).await;
        assert_eq!(begin.elapsed().as_secs(), 17);
    }
}
