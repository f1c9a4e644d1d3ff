//! The thread that brings the tree up to date with the log, in large transactions.
//!
//! It takes what is pending, writes it in key order together with the log position it ends at, and frees the log's
//! segments. Rows of dropped spaces are removed along the way, and by themselves when nothing else is to be done.
//! When the disk is full all the same it tries again until it is not; meanwhile the log
//! and the overlay keep everything, and only what makes room is taken, so that nobody else uses up the room that comes
//! back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use partita_store::StoreError;

use crate::log::durable_watermark::Durable;
use crate::log::position::Position;
use crate::log::segments::Segments;
use crate::tree::dropped_spaces;
use crate::write::overlay::Overlay;
use crate::write::pending::Work;
use crate::write::store_state::Shared;

const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(250);
/// After so many, ten seconds later, a new start is the only hope; where LMDB has given up, it is at once. A disk that is
/// full or read-only is waited for: reads go on meanwhile.
const FAILURES_BEFORE_THE_END: usize = 40;

/// Dropped, it waits until the tree has everything.
pub(crate) struct Applier {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Applier {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that applies")]
    pub fn start(mut application: Application) -> std::io::Result<Applier> {
        let mut applier = Applier::without_thread(Arc::clone(&application.shared));
        let thread = std::thread::Builder::new().name("store applier".to_string()).spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| application.run())).is_err() {
                tracing::error!("the store's applier panicked");
                let gone = StoreError::Io("the store's applier has ended; open the store again".to_string());
                application.shared.pending.failed(gone.clone(), Duration::ZERO);
                application.shared.trouble.fail(&gone);
            }
        })?;
        applier.thread = Some(thread);
        Ok(applier)
    }

    /// For a store whose [`Application`] somebody else sees to.
    pub fn without_thread(shared: Arc<Shared>) -> Applier {
        Applier { shared, thread: None }
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.shared.pending.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's applier ended in a panic");
        }
    }
}

/// What the applier does, and what it needs for that.
pub(crate) struct Application {
    shared: Arc<Shared>,
    segments: Arc<Segments>,
    durable: Arc<Durable>,
    /// What the tree has.
    applied: Position,
    /// Whether dropped spaces may have rows left.
    removing: bool,
}

impl Application {
    pub fn new(
        shared: Arc<Shared>,
        segments: Arc<Segments>,
        durable: Arc<Durable>,
        applied: Position,
    ) -> Application {
        Application { shared, segments, durable, applied, removing: true }
    }

    fn run(&mut self) {
        loop {
            let patience = match self.shared.room.shortage() {
                _ if self.removing => Some(Duration::ZERO),
                Some(_) => Some(PAUSE_AFTER_FAILURE),
                None => None,
            };
            match self.shared.pending.next_work(patience) {
                Work::Apply(rows, sequence) => {
                    if !self.apply(&rows, sequence) {
                        // The log has it, and the next start will read it.
                        return;
                    }
                    self.remove_some();
                }
                Work::Rest => self.remove_some(),
                Work::End => return self.close(),
            }
            self.prepare();
        }
    }

    /// Looks ahead, behind every piece of work.
    pub fn prepare(&self) {
        self.shared.look_for_room();
        if let Err(error) = self.shared.environment.mend_sums() {
            tracing::warn!(%error, "the file of checksums could not be mended");
        }
        // To have a spare segment is a comfort for the writer, which can make its own.
        let _ = self.segments.prepare();
    }

    /// Until it is written, or the store is closed and it cannot be.
    fn apply(&mut self, rows: &Overlay, sequence: u64) -> bool {
        let mut failures = 0;
        while let Err(error) = self.try_to_apply(rows, sequence) {
            tracing::error!(%error, "the data file could not be written; trying again");
            failures += 1;
            if self.is_hopeless(&error, failures) {
                self.shared.trouble.fail(&error);
            }
            let pause = self.make_room(&error, failures);
            if !self.shared.pending.failed(error, pause) {
                return false;
            }
        }
        true
    }

    fn is_hopeless(&self, error: &StoreError, failures: usize) -> bool {
        let is_waited_for = matches!(error, StoreError::Full(_) | StoreError::ReadOnly(_));
        self.shared.environment.is_broken() || (failures == FAILURES_BEFORE_THE_END && !is_waited_for)
    }

    pub fn try_to_apply(&mut self, rows: &Overlay, sequence: u64) -> Result<(), StoreError> {
        // The tree never has what the log may yet lose: else a power loss could leave half a group in it.
        self.durable.flush();
        let position = Position::open(sequence, self.durable.sequence());
        self.shared.environment.apply(rows, position)?;
        self.applied = position;
        self.durable.applied(sequence);
        self.shared.pending.applied();
        self.removing |= !rows.dropped().is_empty();
        if let Err(error) = self.segments.free(sequence) {
            tracing::warn!(%error, "a segment of the commit log could not be removed");
        }
        Ok(())
    }

    /// Gives up what is kept for later if that is the room which is missing. Says how long to wait.
    pub fn make_room(&self, error: &StoreError, failures: usize) -> Duration {
        if !matches!(error, StoreError::Full(_)) {
            return PAUSE_AFTER_FAILURE;
        }
        self.shared.room.run_short();
        self.segments.give_room();
        if failures == 1 { Duration::ZERO } else { PAUSE_AFTER_FAILURE }
    }

    /// Says that the log has no more than the tree.
    pub fn close(&mut self) {
        if !self.applied.is_open {
            return;
        }
        let position = Position::closed(self.applied.sequence);
        if let Err(error) = self.shared.environment.write(|tree, txn| tree.position.set(txn, position)) {
            tracing::warn!(%error, "the next start will look through the commit log");
        }
    }

    /// Removes some rows of dropped spaces, if there may be any.
    pub fn remove_some(&mut self) {
        if !self.removing {
            return;
        }
        self.removing = match dropped_spaces::remove_some(&self.shared.environment) {
            Ok(true) => true,
            Ok(false) => {
                self.shared.pending.removed();
                false
            }
            Err(error) => {
                tracing::error!(%error, "rows of a dropped space could not be removed; they wait for the next start");
                false
            }
        };
    }
}
