//! How slow a client may be while it sends a request or reads an answer.
//!
//! The time for which it is waited for is owed, and what moves pays it back. So a client may pause now and then, or be
//! steadily slow down to a rate; one that trickles runs out of credit. Where room is scarce the credit is short.

use crate::limits::budget::Budget;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes that pay for a second of waiting.
const BYTES_A_SECOND: u32 = 4_096;
/// The credit where room is scarce.
const SHORT_PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether room has become scarce.
const LOOK: Duration = Duration::from_secs(1);

pub struct Pace {
    budget: &'static Budget,
    patience: Duration,
    owed: Duration,
    /// Since when it is waited, if it is.
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    pub fn new(budget: &'static Budget, patience: Duration) -> Pace {
        Pace { budget, patience, owed: Duration::ZERO, since: None, alarm: None }
    }

    /// What was waited for is here: nothing is owed for the next.
    pub fn settle(&mut self) {
        (self.owed, self.since, self.alarm) = (Duration::ZERO, None, None);
    }

    /// So many bytes were read or written.
    pub fn moved(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            let paid = Duration::from_secs(bytes as u64) / BYTES_A_SECOND;
            self.owed = (self.owed + since.elapsed()).saturating_sub(paid);
        }
    }

    /// Asked while nothing moves: ready once the client is too slow.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            let owed = self.owed + now.duration_since(*self.since.get_or_insert(now));
            let Some(left) = self.credit().checked_sub(owed).filter(|left| !left.is_zero()) else {
                return Poll::Ready(());
            };
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(now + left.min(LOOK))));
            ready!(alarm.as_mut().poll(context));
            self.alarm = None;
        }
    }

    fn credit(&self) -> Duration {
        if self.budget.is_tight() { self.patience.min(SHORT_PATIENCE) } else { self.patience }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// How long a client lasts that moves so many bytes every ten seconds.
    async fn lasts(pace: &mut Pace, bytes: usize) -> u64 {
        let begin = Instant::now();
        while timeout(Duration::from_secs(10), poll_fn(|context| pace.poll(context))).await.is_err() {
            pace.moved(bytes);
            if begin.elapsed() > Duration::from_secs(10_000) {
                break;
            }
        }
        begin.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn who_trickles_runs_out_of_credit_and_who_is_steady_does_not() {
        let budget = Budget::new(1 << 30, || ());
        assert_eq!(lasts(&mut Pace::new(budget, PATIENCE), 1).await, 60);
        assert!((110..112).contains(&lasts(&mut Pace::new(budget, PATIENCE), 5 * 4_096).await));
        assert!(lasts(&mut Pace::new(budget, PATIENCE), 10 * 4_096).await > 10_000);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_whole_is_owed_nothing_for() {
        let mut pace = Pace::new(Budget::new(1 << 30, || ()), PATIENCE);
        assert_eq!(timeout(PATIENCE / 2, poll_fn(|context| pace.poll(context))).await.ok(), None);
        pace.moved(1);
        pace.settle();
        assert_eq!(lasts(&mut pace, 1).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn where_room_is_scarce_the_credit_is_short() {
        let budget = Budget::new(1 << 30, || ());
        let mut pace = Pace::new(budget, PATIENCE);
        let crowd = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            budget.set_crowded(true);
        };
        let begin = Instant::now();
        tokio::join!(crowd, poll_fn(|context| pace.poll(context)));
        assert!((20..=21).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    }
}
