//! The memory that requests may use together: bodies as they arrive, what they are decompressed and decoded to, responses
//! until clients have read them.
//!
//! A larger piece of memory needs a [`Reservation`], which grows with what has arrived; a declared length reserves nothing.
//! A request that exceeds the budget is refused, and the server survives. The last part of the budget is for small pieces
//! only, so that any number of large ones leaves memory for common requests.

use crate::clock;
use crate::limits::memory_release;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Pieces up to this size are small: they may use the last part of the budget, and those of usual requests are not counted.
pub const SMALL_BYTES: usize = 64 * 1_024;
/// The last eighth of the budget is for small pieces.
const SMALL_PIECES_DIVISOR: usize = 8;
/// How much must be freed at once to be worth returning it to the operating system.
const LARGE_RELEASE_BYTES: usize = 1_024 * 1_024;
/// For how long it counts as recent that a request or a connection was refused.
const RECENT_MILLIS: u64 = 5_000;

pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Whether nearly all connections are taken.
    crowded: AtomicBool,
    refused_request: RecentEvent,
    rejected_connection: RecentEvent,
    release_memory: fn(),
}

/// Whether something happened in the last few seconds.
struct RecentEvent {
    created: Instant,
    /// When it last happened, in milliseconds since `created`; 0 if it never did.
    last: AtomicU64,
}

impl RecentEvent {
    fn new() -> RecentEvent {
        RecentEvent { created: clock::monotonic_now(), last: AtomicU64::new(0) }
    }

    fn record(&self) {
        self.last.store(self.now().max(1), Ordering::Relaxed);
    }

    fn is_recent(&self) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        last > 0 && self.now().saturating_sub(last) < RECENT_MILLIS
    }

    fn now(&self) -> u64 {
        self.created.elapsed().as_millis() as u64
    }
}

/// The budget does not have enough memory left.
#[derive(Debug, PartialEq, Eq)]
pub struct BudgetExceeded;

/// The part of the budget that a request holds; released when dropped.
pub struct Reservation {
    budget: &'static Budget,
    bytes: usize,
}

impl Budget {
    /// A process has one, for as long as it lives: reservations refer to it without counting references.
    /// `release_memory` returns the calling thread's free memory to the operating system.
    pub fn new(limit: usize, release_memory: fn()) -> &'static Budget {
        Box::leak(Box::new(Budget {
            limit,
            used: AtomicUsize::new(0),
            crowded: AtomicBool::new(false),
            refused_request: RecentEvent::new(),
            rejected_connection: RecentEvent::new(),
            release_memory,
        }))
    }

    /// An empty reservation.
    pub fn reservation(&'static self) -> Reservation {
        Reservation { budget: self, bytes: 0 }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub fn refused_request_recently(&self) -> bool {
        self.refused_request.is_recent()
    }

    /// Whether there is so little left that slow clients are disconnected.
    pub fn is_under_pressure(&self) -> bool {
        self.crowded.load(Ordering::Relaxed) || self.used() > self.limit / 2
    }

    pub fn record_rejected_connection(&self) {
        self.rejected_connection.record();
    }

    pub fn rejected_connection_recently(&self) -> bool {
        self.rejected_connection.is_recent()
    }

    pub fn set_crowded(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// A connection has ended on this thread.
    pub fn connection_ended(&self) {
        memory_release::connection_ended(self.release_memory);
    }

    fn reserve(&self, more: usize, left_over: usize) -> Result<(), BudgetExceeded> {
        let fits = |used: usize| used.checked_add(more).filter(|sum| *sum <= self.limit - left_over);
        let reserved = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        reserved.map(drop).map_err(|_| {
            self.refused_request.record();
            BudgetExceeded
        })
    }
}

impl Reservation {
    /// Grows to at least this many bytes; on failure it is unchanged.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.grow(bytes, if bytes <= SMALL_BYTES { 0 } else { self.budget.limit / SMALL_PIECES_DIVISOR })
    }

    /// The same, with the part of the budget that is for small pieces.
    pub fn grow_into_small_pieces(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.grow(bytes, 0)
    }

    /// Grows by this many bytes.
    pub fn grow_by(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.grow_to(self.bytes.saturating_add(bytes))
    }

    fn grow(&mut self, bytes: usize, left_over: usize) -> Result<(), BudgetExceeded> {
        if let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) {
            self.budget.reserve(more, left_over)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes).filter(|less| *less > 0) else { return };
        self.budget.used.fetch_sub(less, Ordering::Relaxed);
        self.bytes = bytes;
        if less >= LARGE_RELEASE_BYTES {
            memory_release::schedule(self.budget.release_memory);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> &'static Budget {
        Budget::new(8 * SMALL_BYTES * 10, || ())
    }

    #[test]
    fn reservations_grow_and_are_released() {
        let budget = budget();
        let mut reservation = budget.reservation();
        assert_eq!(
            (reservation.grow_to(SMALL_BYTES * 40), budget.refused_request_recently()),
            (Ok(()), false)
        );
        assert_eq!(reservation.grow_to(SMALL_BYTES), Ok(()));
        assert_eq!(budget.used(), SMALL_BYTES * 40);
        reservation.shrink_to(SMALL_BYTES * 3);
        assert_eq!(budget.used(), SMALL_BYTES * 3);
        assert_eq!(
            (reservation.grow_by(1), reservation.grow_into_small_pieces(SMALL_BYTES * 80)),
            (Ok(()), Ok(()))
        );
        assert_eq!(
            (reservation.grow_into_small_pieces(SMALL_BYTES * 80 + 1), budget.used()),
            (Err(BudgetExceeded), SMALL_BYTES * 80)
        );
        drop(reservation);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn large_pieces_leave_memory_for_small_ones() {
        let budget = budget();
        let mut large = budget.reservation();
        assert_eq!(large.grow_to(SMALL_BYTES * 71), Err(BudgetExceeded));
        assert_eq!(budget.used(), 0);
        assert_eq!(large.grow_to(SMALL_BYTES * 70), Ok(()));
        assert!(budget.refused_request_recently() && budget.is_under_pressure());
        let mut small: Vec<Reservation> = (0..10).map(|_| budget.reservation()).collect();
        assert!(small.iter_mut().all(|reservation| reservation.grow_to(SMALL_BYTES) == Ok(())));
        assert_eq!(budget.reservation().grow_to(1), Err(BudgetExceeded));
        drop(large);
        assert!(!budget.is_under_pressure());
    }
}
