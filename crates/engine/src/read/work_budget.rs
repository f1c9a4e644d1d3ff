//! Work budgets, by which long operations share a thread with the other connections that it serves.
//!
//! The cost of a read is estimated, not timed: the bytes that were looked at, once for every test that a filter makes of
//! them. When the budget is used up, the read drops its snapshot and yields. It then resumes after the last row in a new
//! snapshot, as the next page would.

/// The budget in bytes examined: a few milliseconds at most.
const BUDGET: usize = 4 << 20;

/// The work that is left until the task yields.
pub struct WorkBudget(usize);

impl WorkBudget {
    pub fn new() -> WorkBudget {
        WorkBudget(BUDGET)
    }

    /// Deducts work from the budget; returns whether it is used up.
    pub fn spend(&mut self, work: usize) -> bool {
        self.0 = self.0.saturating_sub(work);
        self.0 == 0
    }
}

/// Lets the other tasks on the same thread run.
pub async fn yield_now() {
    tokio::task::yield_now().await;
}
