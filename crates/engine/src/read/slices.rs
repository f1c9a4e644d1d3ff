//! Long reads in slices, so that a thread that serves several connections gets round to the others.
//!
//! What a read costs is reckoned, not timed: the bytes that were looked at, once for every test that a filter makes of
//! them. After a slice the snapshot is given up and the thread serves whoever waits; then the read goes on behind the
//! last row in a new snapshot, as the next page would.

/// Work of one slice, in bytes looked at: a few milliseconds at most.
const SLICE: usize = 4 << 20;

/// What is left of the current slice.
pub struct Slice(usize);

impl Slice {
    pub fn new() -> Slice {
        Slice(SLICE)
    }

    /// Takes work off the slice; whether it is used up.
    pub fn spend(&mut self, work: usize) -> bool {
        self.0 = self.0.saturating_sub(work);
        self.0 == 0
    }
}

/// Lets others on the same thread have their turn.
pub async fn let_others() {
    tokio::task::yield_now().await;
}
