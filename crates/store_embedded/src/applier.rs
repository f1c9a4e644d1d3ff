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
use crate::environment::Environment;
use crate::log::Unflushed;
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
    pub fn start(
        environment: Arc<Environment>,
        pending: Arc<Pending>,
        segments: Arc<Segments>,
        unflushed: Arc<Unflushed>,
        run: u64,
    ) -> std::io::Result<Applier> {
        let mut state =
            State { environment, pending: Arc::clone(&pending), segments, unflushed, run, removing: true };
        let thread = std::thread::Builder::new().name("store applier".to_string()).spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| state.run())).is_err() {
                tracing::error!("the store's applier panicked");
                let gone = StoreError::Io("the store's applier has ended; open the store again".to_string());
                state.pending.failed(gone, Duration::ZERO);
            }
        })?;
        Ok(Applier { pending, thread: Some(thread) })
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

struct State {
    environment: Arc<Environment>,
    pending: Arc<Pending>,
    segments: Arc<Segments>,
    unflushed: Arc<Unflushed>,
    run: u64,
    /// Whether dropped spaces may have rows left.
    removing: bool,
}

impl State {
    fn run(&mut self) {
        loop {
            let patience = self.removing.then_some(Duration::ZERO);
            match self.pending.next_work(patience) {
                Work::Apply(rows, sequence) => {
                    if !self.apply(&rows, Position { run: self.run, sequence }) {
                        // The log has it, and the next start will write it.
                        return;
                    }
                    if self.removing {
                        self.remove_some();
                    }
                }
                Work::Rest => self.remove_some(),
                Work::End => return,
            }
            // To have a spare segment is a comfort for the writer, which can make its own.
            let _ = self.segments.prepare();
        }
    }

    /// Until it is written, or the store is closed and it cannot be.
    fn apply(&mut self, rows: &Overlay, position: Position) -> bool {
        // The tree never has what the log may yet lose: else a power loss could leave half a group in it.
        self.unflushed.flush();
        while let Err(error) = self.environment.apply(rows, position) {
            tracing::error!(%error, "the data file could not be written; trying again");
            // What the log keeps for later may be the room that is missing.
            self.segments.give_room();
            if !self.pending.failed(error, PAUSE_AFTER_FAILURE) {
                return false;
            }
        }
        self.pending.applied();
        self.removing |= !rows.dropped().is_empty();
        if let Err(error) = self.segments.free(position.sequence) {
            tracing::warn!(%error, "a segment of the commit log could not be removed");
        }
        true
    }

    fn remove_some(&mut self) {
        self.removing = match dropped_spaces::remove_some(&self.environment) {
            Ok(true) => true,
            Ok(false) => {
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
