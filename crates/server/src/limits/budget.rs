//! The memory that requests may take together: bodies as they arrive, what they are decompressed and decoded to, answers
//! until clients have read them.
//!
//! Whoever needs a larger piece takes a [`Share`] first and grows it with what has arrived; a declared length is no claim.
//! Where there is no room the request is refused, and the server lives. The last part of the room is kept for small
//! pieces, so that large ones in any number do not keep the usual requests out.

use crate::clock;
use crate::limits::memory_release;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Pieces up to this are small: they may use the room that is kept, and those of a request's usual size are not counted.
pub const SMALL_BYTES: usize = 64 * 1_024;
/// One part in so many is kept for small pieces.
const KEPT_PART: usize = 8;
/// To give back so much at once makes it worth to tell the system.
const LARGE_RETURN_BYTES: usize = 1_024 * 1_024;
/// For so long it matters that a request was refused or a client turned away.
const MOMENT_MILLIS: u64 = 5_000;

pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Whether nearly all connections are taken.
    crowded: AtomicBool,
    /// When a request last found no room.
    refused: Lately,
    /// When a client was last turned away for want of a place.
    turned_away: Lately,
    give_back: fn(),
}

/// Whether something has happened a moment ago.
struct Lately {
    begun: Instant,
    /// Milliseconds from then until it happened last; 0 if it never did.
    happened: AtomicU64,
}

impl Lately {
    fn never() -> Lately {
        Lately { begun: clock::monotonic_now(), happened: AtomicU64::new(0) }
    }

    fn note(&self) {
        self.happened.store(self.now().max(1), Ordering::Relaxed);
    }

    fn is_so(&self) -> bool {
        let last = self.happened.load(Ordering::Relaxed);
        last > 0 && self.now().saturating_sub(last) < MOMENT_MILLIS
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }
}

/// There is no room.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRoom;

/// What a request has of the budget; given back when dropped.
pub struct Share {
    budget: &'static Budget,
    bytes: usize,
}

impl Budget {
    /// A process has one, for as long as it lives: shares of it are made and given back without counting references.
    /// `give_back` hands the calling thread's free memory back to the system.
    pub fn new(limit: usize, give_back: fn()) -> &'static Budget {
        Box::leak(Box::new(Budget {
            limit,
            used: AtomicUsize::new(0),
            crowded: AtomicBool::new(false),
            refused: Lately::never(),
            turned_away: Lately::never(),
            give_back,
        }))
    }

    /// A share of nothing yet.
    pub fn share(&'static self) -> Share {
        Share { budget: self, bytes: 0 }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether a request found no room a moment ago.
    pub fn refuses(&self) -> bool {
        self.refused.is_so()
    }

    /// Whether room is scarce enough that slow clients must go.
    pub fn is_tight(&self) -> bool {
        self.crowded.load(Ordering::Relaxed) || self.used() > self.limit / 2
    }

    pub fn note_turned_away(&self) {
        self.turned_away.note();
    }

    /// Whether a client was turned away a moment ago.
    pub fn turns_away(&self) -> bool {
        self.turned_away.is_so()
    }

    pub fn set_crowded(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// A connection has ended on this thread, with all that it had.
    pub fn connection_ended(&self) {
        memory_release::connection_ended(self.give_back);
    }

    fn take(&self, more: usize, kept: usize) -> Result<(), NoRoom> {
        let fits = |used: usize| used.checked_add(more).filter(|sum| *sum <= self.limit - kept);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map(drop).map_err(|_| {
            self.refused.note();
            NoRoom
        })
    }
}

impl Share {
    /// Has at least so many bytes afterwards; without room it stays as it is.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), NoRoom> {
        self.grow(bytes, if bytes <= SMALL_BYTES { 0 } else { self.budget.limit / KEPT_PART })
    }

    /// The same, in the room that is kept for small pieces too.
    pub fn grow_into_kept(&mut self, bytes: usize) -> Result<(), NoRoom> {
        self.grow(bytes, 0)
    }

    /// So many bytes more.
    pub fn grow_by(&mut self, bytes: usize) -> Result<(), NoRoom> {
        self.grow_to(self.bytes.saturating_add(bytes))
    }

    fn grow(&mut self, bytes: usize, kept: usize) -> Result<(), NoRoom> {
        if let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) {
            self.budget.take(more, kept)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes).filter(|less| *less > 0) else { return };
        self.budget.used.fetch_sub(less, Ordering::Relaxed);
        self.bytes = bytes;
        if less >= LARGE_RETURN_BYTES {
            memory_release::soon(self.budget.give_back);
        }
    }
}

impl Drop for Share {
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
    fn shares_are_taken_and_given_back() {
        let budget = budget();
        let mut share = budget.share();
        assert_eq!((share.grow_to(SMALL_BYTES * 40), budget.refuses()), (Ok(()), false));
        assert_eq!(share.grow_to(SMALL_BYTES), Ok(()));
        assert_eq!(budget.used(), SMALL_BYTES * 40);
        share.shrink_to(SMALL_BYTES * 3);
        assert_eq!(budget.used(), SMALL_BYTES * 3);
        assert_eq!((share.grow_by(1), share.grow_into_kept(SMALL_BYTES * 80)), (Ok(()), Ok(())));
        assert_eq!(
            (share.grow_into_kept(SMALL_BYTES * 80 + 1), budget.used()),
            (Err(NoRoom), SMALL_BYTES * 80)
        );
        drop(share);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn large_pieces_leave_room_for_small_ones() {
        let budget = budget();
        let mut large = budget.share();
        assert_eq!(large.grow_to(SMALL_BYTES * 71), Err(NoRoom));
        assert_eq!(budget.used(), 0);
        assert_eq!(large.grow_to(SMALL_BYTES * 70), Ok(()));
        assert!(budget.refuses() && budget.is_tight());
        let mut small: Vec<Share> = (0..10).map(|_| budget.share()).collect();
        assert!(small.iter_mut().all(|share| share.grow_to(SMALL_BYTES) == Ok(())));
        assert_eq!(budget.share().grow_to(1), Err(NoRoom));
        drop(large);
        assert!(!budget.is_tight());
    }
}
