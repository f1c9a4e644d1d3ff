//! Work in the background, in small bounded steps: filling new indexes, expiring items, forgetting
//! client tokens, trimming streams and histories, exports, imports, bulk operations and restores. Whoever runs the engine calls [`Engine::maintain`] again and
//! again.

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
        let filled = self.backfill_step().await?;
        let expired = self.expire_step().await?;
        let forgotten = self.forget_tokens_step().await?;
        let trimmed = self.stream_step().await?.and(self.history_step().await?);
        let exported = self.export_step().await?;
        let imported = self.import_step().await?;
        let put = self.bulk_step().await?;
        let restored = self.restore_step().await?;
        let upkeep = filled.and(expired).and(forgotten).and(trimmed);
        Ok(upkeep.and(exported).and(imported).and(put).and(restored))
    }
}
