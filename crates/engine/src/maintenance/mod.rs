//! Work in the background, in small bounded steps: mending the catalog, filling new indexes, expiring items, forgetting
//! client tokens and old exports, trimming streams and histories, exports, imports, bulk operations and restores. Whoever runs
//! the engine calls [`Engine::step`] of each kind of work again and again, side by side: none needs another, and one that is
//! slow or fails keeps none of the others waiting.

pub mod pauses;

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

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Catalog,
    Backfills,
    Expiry,
    Tokens,
    Streams,
    Histories,
    Restores,
    EndedExchanges,
    Exports,
    Imports,
    BulkOperations,
}

impl Work {
    pub const ALL: [Work; 11] = [
        Work::Catalog,
        Work::Backfills,
        Work::Expiry,
        Work::Tokens,
        Work::Streams,
        Work::Histories,
        Work::Restores,
        Work::EndedExchanges,
        Work::Exports,
        Work::Imports,
        Work::BulkOperations,
    ];

    /// Whether a step may wait for somebody's bucket. Then steps of the same kind may be taken beside it: each is of another
    /// export, import or bulk operation.
    pub fn may_wait_for_a_bucket(self) -> bool {
        matches!(self, Work::Exports | Work::Imports | Work::BulkOperations)
    }
}

impl<S: Store> Engine<S> {
    /// One step of everything there is to do. A step that fails keeps none of the others from its turn.
    pub async fn maintain(&self) -> Result<Progress, Exception> {
        let mut outcome = Ok(Progress::Done);
        for work in Work::ALL {
            let done = self.step(work).await;
            outcome = outcome.and_then(|before| done.map(|done| before.and(done)));
        }
        outcome
    }

    /// One step of a kind of work. Those that read and write buckets may wait for one for as long as the bucket's kind
    /// allows.
    pub async fn step(&self, work: Work) -> Result<Progress, Exception> {
        match work {
            Work::Catalog => self.catalog_step().await,
            Work::Backfills => self.backfill_step().await,
            Work::Expiry => self.expire_step().await,
            Work::Tokens => self.forget_tokens_step().await,
            Work::Streams => self.stream_step().await,
            Work::Histories => self.history_step().await,
            Work::Restores => self.restore_step().await,
            Work::EndedExchanges => self.forget_exchanges_step().await,
            Work::Exports => self.export_step().await,
            Work::Imports => self.import_step().await,
            Work::BulkOperations => self.bulk_step().await,
        }
    }
}
