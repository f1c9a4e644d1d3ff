//! Runs work that waits for files or an endpoint, or computes for a long time, on a thread of its own, because the calling thread may
//! serve connections. Shutdown does not wait for such threads.

use crate::bucket::internal_failure;
use partita_api::Exception;
use partita_api::exchange::ExchangeFailure;
use tokio::sync::oneshot;

/// Why a step of an export, import or bulk operation made no progress.
pub enum StepError {
    /// Ends the export, import or bulk operation.
    Failure(ExchangeFailure),
    /// The step is retried.
    Exception(Exception),
}

impl From<ExchangeFailure> for StepError {
    fn from(failure: ExchangeFailure) -> StepError {
        StepError::Failure(failure)
    }
}

impl From<Exception> for StepError {
    fn from(exception: Exception) -> StepError {
        StepError::Exception(exception)
    }
}

/// Runs work on a bucket. A panic is a failure rather than an exception: it would repeat with every retry.
pub async fn run_with_bucket<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExchangeFailure> + Send + 'static,
) -> Result<T, StepError> {
    Ok(spawn(work)?.await.unwrap_or_else(|_| Err(internal_failure()))?)
}

/// Runs work on another thread and returns its result; an exception if no thread could be started or the work panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exception> {
    spawn(work)?.await.map_err(|error| unable(&error))
}

/// Starts a thread. The receiver fails if the work panics.
#[expect(clippy::disallowed_methods, reason = "starts the threads of slow work")]
fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, Exception> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        // The receiver may have been dropped.
        let _ = sender.send(work());
    };
    std::thread::Builder::new().name("blocking".to_owned()).spawn(run).map_err(|error| unable(&error))?;
    Ok(receiver)
}

fn unable(error: &dyn std::fmt::Display) -> Exception {
    tracing::error!(%error, "a blocking task could not be run");
    Exception::internal("Internal server error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_on_another_thread() {
        let here = std::thread::current().id();
        assert!(run_blocking(|| std::thread::current().id()).await.is_ok_and(|there| there != here));
    }

    #[tokio::test]
    async fn a_panic_is_reported() {
        assert!(run_blocking(|| panic!("on purpose")).await.is_err());
    }

    #[tokio::test]
    async fn a_panic_during_work_on_a_bucket_is_not_retried() {
        let outcome = run_with_bucket::<()>(|| panic!("on purpose")).await;
        assert!(matches!(outcome, Err(StepError::Failure(failure)) if failure.code == "InternalServerError"));
    }
}
