//! Work that would keep a thread from its other connections for long, done aside.
//!
//! A body of megabytes to be decoded, an answer of megabytes to be written or compressed: each takes tens of milliseconds
//! in one piece. Such pieces go to threads of their own, of which few work at a time; the thread that serves the
//! connection goes on with others meanwhile.

use partita_api::Exception;
use tokio::sync::Semaphore;

/// What is smaller is done at once: the way to another thread and back costs more.
pub const LARGE_BYTES: usize = 256 * 1_024;
/// Pieces that are worked on at a time.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Does a piece of work aside.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Exception> {
    // Nobody closes it.
    let _turn = TURNS.acquire().await;
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "work done aside panicked; this is a bug in Partita");
        Exception::internal("Internal server error")
    })
}

/// Does work on so many bytes, aside if they are many.
pub async fn weighed<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    if bytes > LARGE_BYTES { aside(work).await } else { Ok(work()) }
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
