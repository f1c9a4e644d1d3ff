//! How slow a client may be while it sends a request or reads a response.
//!
//! Time spent waiting for it is a debt, and transferred bytes pay it back. So a client may pause now and then, or be
//! steadily slow down to a minimum rate; one that trickles runs out of credit. Under memory pressure the credit is short.

use crate::limits::budget::Budget;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// How many bytes pay for a second of waiting.
const MIN_BYTES_PER_SECOND: u32 = 4_096;
/// The credit under memory pressure.
const CREDIT_UNDER_PRESSURE: Duration = Duration::from_secs(5);
/// How often it is checked whether there is memory pressure.
const PRESSURE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

pub struct SlowClientTimeout {
    budget: &'static Budget,
    credit: Duration,
    debt: Duration,
    waiting_since: Option<Instant>,
    wakeup: Option<Pin<Box<Sleep>>>,
}

impl SlowClientTimeout {
    pub fn new(budget: &'static Budget, credit: Duration) -> SlowClientTimeout {
        SlowClientTimeout { budget, credit, debt: Duration::ZERO, waiting_since: None, wakeup: None }
    }

    /// Forgives the debt: what was waited for is complete.
    pub fn reset(&mut self) {
        (self.debt, self.waiting_since, self.wakeup) = (Duration::ZERO, None, None);
    }

    /// Records that bytes were read or written.
    pub fn transferred(&mut self, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            let paid = Duration::from_secs(bytes as u64) / MIN_BYTES_PER_SECOND;
            self.debt = (self.debt + since.elapsed()).saturating_sub(paid);
        }
    }

    /// Called while nothing is transferred: ready once the client is too slow.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            let debt = self.debt + now.duration_since(*self.waiting_since.get_or_insert(now));
            let Some(left) = self.current_credit().checked_sub(debt).filter(|left| !left.is_zero()) else {
                return Poll::Ready(());
            };
            let wakeup = self
                .wakeup
                .get_or_insert_with(|| Box::pin(sleep_until(now + left.min(PRESSURE_CHECK_INTERVAL))));
            ready!(wakeup.as_mut().poll(context));
            self.wakeup = None;
        }
    }

    fn current_credit(&self) -> Duration {
        if self.budget.is_under_pressure() { self.credit.min(CREDIT_UNDER_PRESSURE) } else { self.credit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::time::timeout;

    const CREDIT: Duration = Duration::from_secs(60);

    /// How long a client lasts that transfers this many bytes every ten seconds.
    async fn lasts(timer: &mut SlowClientTimeout, bytes: usize) -> u64 {
        let begin = Instant::now();
        while timeout(Duration::from_secs(10), poll_fn(|context| timer.poll(context))).await.is_err() {
            timer.transferred(bytes);
            if begin.elapsed() > Duration::from_secs(10_000) {
                break;
            }
        }
        begin.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickling_client_runs_out_of_credit_and_a_steady_one_does_not() {
        let budget = Budget::new(1 << 30, || ());
        assert_eq!(lasts(&mut SlowClientTimeout::new(budget, CREDIT), 1).await, 60);
        assert!((110..112).contains(&lasts(&mut SlowClientTimeout::new(budget, CREDIT), 5 * 4_096).await));
        assert!(lasts(&mut SlowClientTimeout::new(budget, CREDIT), 10 * 4_096).await > 10_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_complete_transfer_clears_the_debt() {
        let mut timer = SlowClientTimeout::new(Budget::new(1 << 30, || ()), CREDIT);
        assert_eq!(timeout(CREDIT / 2, poll_fn(|context| timer.poll(context))).await.ok(), None);
        timer.transferred(1);
        timer.reset();
        assert_eq!(lasts(&mut timer, 1).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn under_memory_pressure_the_credit_is_short() {
        let budget = Budget::new(1 << 30, || ());
        let mut timer = SlowClientTimeout::new(budget, CREDIT);
        let crowd = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            budget.set_crowded(true);
        };
        let begin = Instant::now();
        tokio::join!(crowd, poll_fn(|context| timer.poll(context)));
        assert!((20..=21).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    }
}
