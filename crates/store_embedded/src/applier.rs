//! The thread that brings the tree up to date with the log, in large transactions.
//!
//! It takes what is pending, writes it in key order together with the log position it ends at, and frees the log's
//! segments. Rows of dropped spaces are removed along the way, and by themselves when nothing else is to be done.
//! When the disk is full it tries again until it is not; meanwhile the log and the overlay keep everything, and
//! writers are refused, so that nobody else takes the room that comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use partita_store::StoreError;

use crate::dropped_spaces;
use crate::durable::Durable;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::overlay::Overlay;
use crate::pending::{Pending, Work};
use crate::position::Position;
use crate::segments::Segments;

const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(250);

/// Dropped, it waits until the tree has everything.
pub(crate) struct Applier {
    pending: Arc<Pending>,
    thread: Option<JoinHandle<()>>,
}

impl Applier {
    pub fn start(mut work: Application) -> std::io::Result<Applier> {
        let mut applier = Applier::without_thread(Arc::clone(&work.pending));
        let thread = std::thread::Builder::new().name("store applier".to_string()).spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| work.run())).is_err() {
                tracing::error!("the store's applier panicked");
                let gone = StoreError::Io("the store's applier has ended; open the store again".to_string());
                work.pending.failed(gone, Duration::ZERO);
            }
        })?;
        applier.thread = Some(thread);
        Ok(applier)
    }

    /// For a store whose [`Application`] somebody else sees to.
    pub fn without_thread(pending: Arc<Pending>) -> Applier {
        Applier { pending, thread: None }
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.pending.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's applier ended in a panic");
        }
    }
}

/// What the applier does, and what it needs for that.
pub(crate) struct Application {
    environment: Arc<Environment>,
    pending: Arc<Pending>,
    segments: Arc<Segments>,
    durable: Arc<Durable>,
    /// What the tree has.
    applied: Position,
    /// Whether dropped spaces may have rows left.
    removing: bool,
}

impl Application {
    pub fn new(
        environment: Arc<Environment>,
        pending: Arc<Pending>,
        segments: Arc<Segments>,
        durable: Arc<Durable>,
        applied: Position,
    ) -> Application {
        Application { environment, pending, segments, durable, applied, removing: true }
    }

    fn run(&mut self) {
        loop {
            let patience = self.removing.then_some(Duration::ZERO);
            match self.next_work(patience) {
                Work::Apply(rows, sequence) => {
                    if !self.apply(&rows, sequence) {
                        // The log has it, and the next start will write it.
                        return;
                    }
                    if self.removing {
                        self.remove_some();
                    }
                }
                Work::Rest => self.remove_some(),
                Work::End => return self.close(),
            }
            self.prepare();
        }
    }

    pub fn next_work(&self, patience: Option<Duration>) -> Work {
        self.pending.next_work(patience)
    }

    /// Writers are told why the tree does not follow.
    pub fn failed(&self, error: StoreError) {
        self.pending.failed(error, Duration::ZERO);
    }

    /// Says that the tree has the log up to a record.
    pub fn claim(&self, sequence: u64) -> Result<(), StoreError> {
        let position = Position::open(sequence, self.durable.sequence());
        self.environment.write(|tree, txn| tree.position.set(txn, position))
    }

    pub fn prepare(&self) {
        // To have a spare segment is a comfort for the writer, which can make its own.
        let _ = self.segments.prepare();
    }

    /// Until it is written, or the store is closed and it cannot be.
    fn apply(&mut self, rows: &Overlay, sequence: u64) -> bool {
        while let Err(error) = self.try_to_apply(rows, sequence) {
            if !self.pending.failed(error, PAUSE_AFTER_FAILURE) {
                return false;
            }
        }
        true
    }

    pub fn try_to_apply(&mut self, rows: &Overlay, sequence: u64) -> Result<(), StoreError> {
        // The tree never has what the log may yet lose: else a power loss could leave half a group in it.
        self.durable.flush();
        let position = Position::open(sequence, self.durable.sequence());
        self.environment.apply(rows, position).inspect_err(|error| {
            tracing::error!(%error, "the data file could not be written; trying again");
            // What the log keeps for later may be the room that is missing.
            self.segments.give_room();
        })?;
        self.applied = position;
        self.durable.applied(sequence);
        self.pending.applied();
        self.removing |= !rows.dropped().is_empty();
        if let Err(error) = self.segments.free(sequence) {
            tracing::warn!(%error, "a segment of the commit log could not be removed");
        }
        Ok(())
    }

    /// Says that the log has no more than the tree.
    pub fn close(&mut self) {
        if !self.applied.is_open {
            return;
        }
        let position = Position::closed(self.applied.sequence);
        if let Err(error) = self.environment.write(|tree, txn| tree.position.set(txn, position)) {
            tracing::warn!(%error, "the next start will look through the commit log");
        }
    }

    pub fn remove_some(&mut self) {
        let more = self.environment.write(|tree, txn| match dropped_spaces::remove_some(tree, txn) {
            Ok(Some(more)) => Ok(more),
            // Nothing to do is no reason to commit.
            Ok(None) => Err(Failure::Store(StoreError::Closed)),
            Err(failure) => Err(failure),
        });
        self.removing = match more {
            Ok(true) => true,
            Ok(false) | Err(StoreError::Closed) => {
                self.pending.removed();
                false
            }
            Err(error) => {
                tracing::error!(%error, "rows of a dropped space could not be removed; they wait for the next start");
                false
            }
        };
    }
}
