//! Background work, in small bounded steps: repairing the catalog, backfilling indexes, expiring items, deleting lapsed client
//! tokens and old exports, trimming streams and histories, running exports, imports, bulk operations and restores.
//!
//! The host calls [`Engine::step`] for each kind of [`Work`] repeatedly and concurrently. The kinds do not depend on each other:
//! one that is slow or fails delays no other. A failing task is retried with [`backoff`].

pub mod backoff;

use crate::Engine;
use partita_api::Exception;
use partita_store::Store;

/// Whether another step is due immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

impl Progress {
    pub fn of(more: bool) -> Progress {
        if more { Progress::More } else { Progress::Done }
    }

    /// More if either has more.
    pub fn or(self, other: Progress) -> Progress {
        Progress::of(self == Progress::More || other == Progress::More)
    }
}

/// A kind of background work.
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

    /// Whether a step may wait for a bucket. Then several steps of this kind may run concurrently, each for another export,
    /// import or bulk operation.
    pub fn may_wait_for_a_bucket(self) -> bool {
        matches!(self, Work::Exports | Work::Imports | Work::BulkOperations)
    }
}

impl<S: Store> Engine<S> {
    /// Runs one step of every kind of work. A step that fails does not prevent the others.
    pub async fn maintain(&self) -> Result<Progress, Exception> {
        let mut outcome = Ok(Progress::Done);
        for work in Work::ALL {
            let done = self.step(work).await;
            outcome = outcome.and_then(|before| done.map(|done| before.or(done)));
        }
        outcome
    }

    /// Runs one step of a kind of work. Steps that use a bucket may wait for it as long as the bucket's implementation does.
    pub async fn step(&self, work: Work) -> Result<Progress, Exception> {
        match work {
            Work::Catalog => self.catalog_step().await,
            Work::Backfills => self.backfill_step().await,
            Work::Expiry => self.expire_step().await,
            Work::Tokens => self.delete_lapsed_tokens_step().await,
            Work::Streams => self.stream_step().await,
            Work::Histories => self.history_step().await,
            Work::Restores => self.restore_step().await,
            Work::EndedExchanges => self.delete_ended_exchanges_step().await,
            Work::Exports => self.export_step().await,
            Work::Imports => self.import_step().await,
            Work::BulkOperations => self.bulk_step().await,
        }
    }
}
