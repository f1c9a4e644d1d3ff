//! Work that would keep a thread from its other connections for long, done aside.
//!
//! A body of megabytes to be decoded, an answer of megabytes to be written or compressed, a filter that looks at a large item
//! hundreds of times: each takes tens of milliseconds in one piece. Such pieces go to threads of their own, of which few work
//! at a time; the thread that serves the connection goes on with others meanwhile.

use crate::offload::aside::aside;
use partita_api::Exception;
use partita_expression::Condition;
use partita_value::ItemRef;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What is smaller is done at once: the way to another thread and back costs more.
pub const LARGE_BYTES: usize = 256 * 1_024;
/// What looks at more bytes than these in one piece is done aside.
pub(crate) const HEAVY_WORK: usize = 2 << 20;
/// Pieces that are worked on at a time: those of milliseconds do not wait for those that may take a second.
static SHORT_TURNS: Semaphore = Semaphore::const_new(2);
static LONG_TURNS: Semaphore = Semaphore::const_new(2);
/// Pieces that look at more bytes than these are long.
const LONG_WORK: usize = 4 << 20;

/// Does a piece of work that looks at about so many bytes on another thread, when its turn has come.
pub async fn elsewhere<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    let turns = if bytes > LONG_WORK { &LONG_TURNS } else { &SHORT_TURNS };
    // Nobody closes it. The work keeps its turn to its end, also if nobody waits for it any more.
    let turn = turns.acquire().await;
    aside(move || {
        let _turn = turn;
        work()
    })
    .await
}

/// Does work on so many bytes, aside if they are many.
pub async fn weighed<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    if bytes > LARGE_BYTES { elsewhere(bytes, work).await } else { Ok(work()) }
}

/// What a condition said of a row; of none, if there was no item.
pub(crate) struct Verdict {
    pub(crate) row: Option<Vec<u8>>,
    pub(crate) holds: bool,
}

impl Verdict {
    /// Decides, aside if that takes long.
    pub(crate) async fn of(condition: &Condition, row: Option<Vec<u8>>) -> Result<Verdict, Exception> {
        let work = condition.work(row.as_ref().map_or(0, Vec::len));
        if work <= HEAVY_WORK {
            let holds = condition.matches(row.as_deref().and_then(ItemRef::new))?;
            return Ok(Verdict { row, holds });
        }
        let (condition, row) = (condition.clone(), row.map(Arc::new));
        let shared = row.clone();
        let decide = move || condition.matches(shared.as_deref().and_then(|row| ItemRef::new(row)));
        let holds = elsewhere(work, decide).await??;
        Ok(Verdict { row: row.map(Arc::unwrap_or_clone), holds })
    }

    pub(crate) fn is_about(&self, item: Option<ItemRef<'_>>) -> bool {
        self.row.as_deref() == item.map(|item| item.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_work_is_done_elsewhere_and_its_panics_are_errors() {
        let here = std::thread::current().id();
        let thread = |bytes| weighed(bytes, || std::thread::current().id());
        assert_eq!(thread(LARGE_BYTES).await, Ok(here));
        assert_ne!(thread(LARGE_BYTES + 1).await, Ok(here));
        assert!(weighed(usize::MAX, || panic!("on purpose")).await.is_err());
    }
}
