//! CPU-heavy work, moved off the threads that serve connections.
//!
//! Decoding a request of megabytes, encoding or compressing a response of megabytes, or evaluating a filter that examines a large
//! item hundreds of times takes tens of milliseconds. Such work runs on other threads, a few at a time; meanwhile the calling thread
//! serves other connections.

use crate::offload::blocking_task::run_blocking;
use partita_api::Exception;
use partita_expression::Condition;
use partita_value::ItemRef;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Work on fewer bytes is done in place: switching threads would cost more.
pub const LARGE_BYTES: usize = 256 * 1_024;
/// Work that examines more bytes than this is offloaded.
pub(crate) const HEAVY_WORK: usize = 2 << 20;
/// Limit how much work runs at a time. Work of milliseconds does not queue behind work that may take a second.
static SHORT_WORK_PERMITS: Semaphore = Semaphore::const_new(2);
static LONG_WORK_PERMITS: Semaphore = Semaphore::const_new(2);
/// Work that examines more bytes than this is long.
const LONG_WORK: usize = 4 << 20;

/// Runs work that examines about `bytes` bytes on another thread, once a permit is free.
pub async fn offload<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    let permits = if bytes > LONG_WORK { &LONG_WORK_PERMITS } else { &SHORT_WORK_PERMITS };
    // The semaphore is never closed. The work holds its permit to its end, even if the caller no longer waits.
    let permit = permits.acquire().await;
    run_blocking(move || {
        let _permit = permit;
        work()
    })
    .await
}

/// Runs work on `bytes` bytes, on another thread if that is large.
pub async fn offload_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    if bytes > LARGE_BYTES { offload(bytes, work).await } else { Ok(work()) }
}

/// Whether a condition holds for a row; the row is `None` if there is no item.
pub(crate) struct ConditionResult {
    pub(crate) row: Option<Vec<u8>>,
    pub(crate) holds: bool,
}

impl ConditionResult {
    /// Evaluates a condition, on another thread if that is expensive.
    pub(crate) async fn evaluate(
        condition: &Condition,
        row: Option<Vec<u8>>,
    ) -> Result<ConditionResult, Exception> {
        let work = condition.work(row.as_ref().map_or(0, Vec::len));
        if work <= HEAVY_WORK {
            let holds = condition.matches(row.as_deref().and_then(ItemRef::new))?;
            return Ok(ConditionResult { row, holds });
        }
        let (condition, row) = (condition.clone(), row.map(Arc::new));
        let shared = row.clone();
        let decide = move || condition.matches(shared.as_deref().and_then(|row| ItemRef::new(row)));
        let holds = offload(work, decide).await??;
        Ok(ConditionResult { row: row.map(Arc::unwrap_or_clone), holds })
    }

    pub(crate) fn is_about(&self, item: Option<ItemRef<'_>>) -> bool {
        self.row.as_deref() == item.map(|item| item.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_work_is_offloaded_and_its_panics_are_errors() {
        let here = std::thread::current().id();
        let thread = |bytes| offload_if_large(bytes, || std::thread::current().id());
        assert_eq!(thread(LARGE_BYTES).await, Ok(here));
        assert_ne!(thread(LARGE_BYTES + 1).await, Ok(here));
        assert!(offload_if_large(usize::MAX, || panic!("on purpose")).await.is_err());
    }
}
