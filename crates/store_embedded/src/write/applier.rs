//! The thread that brings the tree up to date with the log, in large transactions.
//!
//! It takes what is pending, writes it in key order together with the log position it ends at, and frees the log's
//! segments. Rows of dropped spaces are removed along the way, or on their own when there is nothing else to do.
//! If the disk is full although space was preallocated (`disk_space`), it retries until there is space. Meanwhile the log and the overlay hold
//! everything, and only writes that free space are accepted, so that no other write uses up the space that becomes free.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use partita_store::StoreError;

use crate::log::durable_watermark::DurableWatermark;
use crate::log::position::LogPosition;
use crate::log::segments::Segments;
use crate::tree::dropped_spaces;
use crate::write::overlay::Overlay;
use crate::write::pending::ApplierWork;
use crate::write::store_state::StoreState;

const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(250);
/// After this many failures, ten seconds later, only a restart can help; if LMDB has given up, immediately.
/// A disk that is full or read-only is waited for: reads continue meanwhile.
const MAX_FAILURES: usize = 40;

/// The handle of the applier's thread. Dropping it waits until the tree is up to date.
pub(crate) struct ApplierThread {
    state: Arc<StoreState>,
    thread: Option<JoinHandle<()>>,
}

impl ApplierThread {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that applies")]
    pub fn start(mut applier: Applier) -> std::io::Result<ApplierThread> {
        let mut applier_thread = ApplierThread::without_thread(Arc::clone(&applier.state));
        let thread = std::thread::Builder::new().name("store applier".to_string()).spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| applier.run())).is_err() {
                tracing::error!("the store's applier thread panicked");
                let stopped = StoreError::Io("the store's applier has stopped; reopen the store".to_string());
                applier.state.pending.failed(stopped.clone(), Duration::ZERO);
                applier.state.write_health.report_fatal(&stopped);
            }
        })?;
        applier_thread.thread = Some(thread);
        Ok(applier_thread)
    }

    /// For a store whose [`Applier`] is driven by the caller.
    pub fn without_thread(state: Arc<StoreState>) -> ApplierThread {
        ApplierThread { state, thread: None }
    }
}

impl Drop for ApplierThread {
    fn drop(&mut self) {
        self.state.pending.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's applier thread panicked");
        }
    }
}

/// Writes pending rows to the tree, and what it needs to do so.
pub(crate) struct Applier {
    state: Arc<StoreState>,
    segments: Arc<Segments>,
    durable: Arc<DurableWatermark>,
    /// The log position of the tree.
    applied: LogPosition,
    /// Whether dropped spaces may have rows left.
    removing: bool,
}

impl Applier {
    pub fn new(
        state: Arc<StoreState>,
        segments: Arc<Segments>,
        durable: Arc<DurableWatermark>,
        applied: LogPosition,
    ) -> Applier {
        Applier { state, segments, durable, applied, removing: true }
    }

    fn run(&mut self) {
        loop {
            let timeout = match self.state.disk_space.shortage() {
                _ if self.removing => Some(Duration::ZERO),
                Some(_) => Some(PAUSE_AFTER_FAILURE),
                None => None,
            };
            match self.state.pending.next_work(timeout) {
                ApplierWork::Apply(rows, sequence) => {
                    if !self.apply(&rows, sequence) {
                        // The log has it, and the next start will replay it.
                        return;
                    }
                    self.remove_some();
                }
                ApplierWork::Idle => self.remove_some(),
                ApplierWork::Stop => return self.close(),
            }
            self.maintain();
        }
    }

    /// Housekeeping after every piece of work.
    pub fn maintain(&self) {
        self.state.recheck_disk_space();
        if let Err(error) = self.state.environment.repair_checksums() {
            tracing::warn!(%error, "the checksum file could not be repaired");
        }
        // A spare segment only saves the writer some time: it can create its own.
        let _ = self.segments.prepare_spare();
    }

    /// Retries until the rows are written. Returns `false` if the store is closed and they cannot be.
    fn apply(&mut self, rows: &Overlay, sequence: u64) -> bool {
        let mut failures = 0;
        while let Err(error) = self.try_to_apply(rows, sequence) {
            tracing::error!(%error, "the data file could not be written; retrying");
            failures += 1;
            if self.needs_restart(&error, failures) {
                self.state.write_health.report_fatal(&error);
            }
            let pause = self.release_space(&error, failures);
            if !self.state.pending.failed(error, pause) {
                return false;
            }
        }
        true
    }

    fn needs_restart(&self, error: &StoreError, failures: usize) -> bool {
        let is_temporary = matches!(error, StoreError::Full(_) | StoreError::ReadOnly(_));
        self.state.environment.is_broken() || (failures == MAX_FAILURES && !is_temporary)
    }

    pub fn try_to_apply(&mut self, rows: &Overlay, sequence: u64) -> Result<(), StoreError> {
        // The tree never gets ahead of what is durable in the log, or a power loss could leave half a group in it.
        self.durable.sync();
        let position = LogPosition::open(sequence, self.durable.sequence());
        self.state.environment.apply(rows, position)?;
        self.applied = position;
        self.durable.applied(sequence);
        self.state.pending.applied();
        self.removing |= !rows.dropped().is_empty();
        if let Err(error) = self.segments.free(sequence) {
            tracing::warn!(%error, "a segment of the commit log could not be removed");
        }
        Ok(())
    }

    /// Releases spare disk space if that is what is missing. Returns how long to wait.
    pub fn release_space(&self, error: &StoreError, failures: usize) -> Duration {
        if !matches!(error, StoreError::Full(_)) {
            return PAUSE_AFTER_FAILURE;
        }
        self.state.disk_space.mark_full();
        self.segments.release_spares();
        if failures == 1 { Duration::ZERO } else { PAUSE_AFTER_FAILURE }
    }

    /// Records that the tree has everything in the log.
    pub fn close(&mut self) {
        if !self.applied.is_open {
            return;
        }
        let position = LogPosition::closed(self.applied.sequence);
        if let Err(error) =
            self.state.environment.write(|databases, txn| databases.position.set(txn, position))
        {
            tracing::warn!(%error, "the next start will scan the commit log");
        }
    }

    /// Removes some rows of dropped spaces, if any may be left.
    pub fn remove_some(&mut self) {
        if !self.removing {
            return;
        }
        self.removing = match dropped_spaces::remove_some(&self.state.environment) {
            Ok(true) => true,
            Ok(false) => {
                self.state.pending.removed();
                false
            }
            Err(error) => {
                tracing::error!(%error, "rows of a dropped space could not be removed; the next start will retry");
                false
            }
        };
    }
}
