//! Work that waits for files or an endpoint, or computes for long, goes to a thread of its own: whoever runs the engine may serve
//! connections on the thread that asks for it. Nobody waits for such a thread at the end of the process.

use crate::bucket::internal_failure;
use partita_api::Exception;
use partita_api::exchange::ExchangeFailure;
use tokio::sync::oneshot;

/// Why a step of an export, an import or a bulk operation did not come further.
pub enum Hindrance {
    /// It ends by this.
    Failure(ExchangeFailure),
    /// The step is tried again.
    Exception(Exception),
}

impl From<ExchangeFailure> for Hindrance {
    fn from(failure: ExchangeFailure) -> Hindrance {
        Hindrance::Failure(failure)
    }
}

impl From<Exception> for Hindrance {
    fn from(exception: Exception) -> Hindrance {
        Hindrance::Exception(exception)
    }
}

/// Work with a bucket. If it panics it would do so each time it is tried again: then it has failed.
pub async fn aside_with_bucket<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExchangeFailure> + Send + 'static,
) -> Result<T, Hindrance> {
    Ok(begin(work)?.await.unwrap_or_else(|_| Err(internal_failure()))?)
}

/// What the work comes to. An exception means that there was no thread for it, or that it has panicked.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Exception> {
    begin(work)?.await.map_err(|error| unable(&error))
}

/// Begins work on a thread of its own. There is no answer if it panics.
#[expect(clippy::disallowed_methods, reason = "starts the threads of slow work")]
fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, Exception> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        // Nobody may be there any more to be told.
        let _ = sender.send(work());
    };
    std::thread::Builder::new().name("aside".to_owned()).spawn(run).map_err(|error| unable(&error))?;
    Ok(receiver)
}

fn unable(error: &dyn std::fmt::Display) -> Exception {
    tracing::error!(%error, "background work has no thread");
    Exception::internal("Internal server error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_elsewhere() {
        let here = std::thread::current().id();
        assert!(aside(|| std::thread::current().id()).await.is_ok_and(|there| there != here));
    }

    #[tokio::test]
    async fn work_that_panics_is_told() {
        assert!(aside(|| panic!("on purpose")).await.is_err());
    }

    #[tokio::test]
    async fn work_with_a_bucket_that_panics_is_not_tried_again() {
        let outcome = aside_with_bucket::<()>(|| panic!("on purpose")).await;
        assert!(matches!(outcome, Err(Hindrance::Failure(failure)) if failure.code == "InternalServerError"));
    }
}
