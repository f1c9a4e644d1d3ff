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
        let kept_up = self.keep_up().await?;
        Ok(kept_up.and(self.work_on_exchanges().await?))
    }

    /// One step of what tables need.
    pub async fn keep_up(&self) -> Result<Progress, Exception> {
        let filled = self.backfill_step().await?;
        let expired = self.expire_step().await?;
        let forgotten = self.forget_tokens_step().await?;
        let trimmed = self.stream_step().await?.and(self.history_step().await?);
        let exchanges_forgotten = self.forget_exchanges_step().await?;
        Ok(filled.and(expired).and(forgotten).and(trimmed).and(exchanges_forgotten))
    }

    /// One step of what fills and empties whole tables. It may wait for a bucket for as long as the bucket's kind allows.
    pub async fn work_on_exchanges(&self) -> Result<Progress, Exception> {
        let exported = self.export_step().await?;
        let imported = self.import_step().await?;
        let put = self.bulk_step().await?;
        let restored = self.restore_step().await?;
        Ok(exported.and(imported).and(put).and(restored))
    }
}
