//! Work in the background, in small bounded steps: filling new indexes, expiring items, forgetting
//! client tokens and old exports, trimming streams and histories, exports, imports, bulk operations and restores. Whoever runs
//! the engine calls [`Engine::maintain`] again and again, or its two halves side by side.

use crate::Engine;
use partita_api::Exception;
use partita_store::Store;

/// Whether another step is due at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

impl Progress {
    pub fn of(more: bool) -> Progress {
        if more { Progress::More } else { Progress::Done }
    }

    pub fn and(self, other: Progress) -> Progress {
        Progress::of(self == Progress::More || other == Progress::More)
    }
}

impl<S: Store> Engine<S> {
    /// One step of everything there is to do.
    pub async fn maintain(&self) -> Result<Progress, Exception> {
        together([self.keep_up().await, self.work_on_exchanges().await])
    }

    /// One step of what tables need.
    pub async fn keep_up(&self) -> Result<Progress, Exception> {
        together([
            self.backfill_step().await,
            self.expire_step().await,
            self.forget_tokens_step().await,
            self.stream_step().await,
            self.history_step().await,
            self.restore_step().await,
            self.forget_exchanges_step().await,
        ])
    }

    /// One step of what reads and writes buckets. It may wait for one for as long as the bucket's kind allows.
    pub async fn work_on_exchanges(&self) -> Result<Progress, Exception> {
        together([self.export_step().await, self.import_step().await, self.bulk_step().await])
    }
}

/// What came out of several steps. One that fails keeps none of the others from its turn.
fn together<const N: usize>(steps: [Result<Progress, Exception>; N]) -> Result<Progress, Exception> {
    steps.into_iter().reduce(|one, other| Ok(one?.and(other?))).unwrap_or(Ok(Progress::Done))
}
