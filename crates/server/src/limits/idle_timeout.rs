//! How long a client may say nothing. While it talks this costs a look at the clock: the alarm is put off only when it
//! goes off too early.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

pub struct Silence {
    longest: Duration,
    since: Instant,
    alarm: Pin<Box<Sleep>>,
}

impl Silence {
    pub fn of_at_most(longest: Duration) -> Silence {
        Silence { longest, since: Instant::now(), alarm: Box::pin(sleep(longest)) }
    }

    /// The client said something, now.
    pub fn broken(&mut self) -> Instant {
        self.since = Instant::now();
        self.since
    }

    /// Ready once it has lasted too long.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let end = self.since + self.longest;
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn it_counts_from_the_last_word() {
        let begin = Instant::now();
        let mut silence = Silence::of_at_most(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_secs(7)).await;
        silence.broken();
        poll_fn(|context| silence.poll(context)).await;
        assert_eq!(begin.elapsed().as_secs(), 17);
    }
}
