//! The store without threads: writer, applier and log sync are steps that the caller takes, in any order.
//!
//! For the simulation (crates/simulation), which decides what happens when. The steps are those of the threads.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use partita_store::StoreError;

use crate::log::durable_watermark::DurableWatermark;
use crate::log::position::LogPosition;
use crate::log::recovery::OnDamage;
use crate::offline::compact;
use crate::open_error::OpenError;
use crate::write::applier::{Applier, ApplierThread};
use crate::write::overlay::Overlay;
use crate::write::pending::ApplierWork;
use crate::write::store_state::StoreState;
use crate::write::writer::{Writer, WriterLoop};
use crate::{Durability, EmbeddedStore, Options, Pace, Parts};

/// Drives the store in place of its threads; without it the store does nothing.
pub struct Driver {
    writer_loop: WriterLoop,
    applier: Applier,
    state: Arc<StoreState>,
    durable: Arc<DurableWatermark>,
    durability: Durability,
    /// Rows that could not be written to the tree yet.
    unfinished: Option<(Arc<Overlay>, u64)>,
}

impl EmbeddedStore {
    /// Opens a store that only does what its driver does.
    #[doc(hidden)]
    pub fn open_single_threaded(
        folder: &Path,
        options: Options,
    ) -> Result<(EmbeddedStore, Driver), OpenError> {
        let parts = Parts::open(folder, options, Pace::Manual, OnDamage::Refuse)?;
        let (writer, writer_loop) = Writer::without_thread(Arc::clone(&parts.state), parts.log);
        let steps = Driver {
            writer_loop,
            applier: parts.applier,
            state: Arc::clone(&parts.state),
            durable: Arc::clone(&parts.durable),
            durability: parts.durability,
            unfinished: None,
        };
        let store = EmbeddedStore {
            writer,
            _applier_thread: ApplierThread::without_thread(Arc::clone(&parts.state)),
            _sync_thread: None,
            state: parts.state,
            durable: parts.durable,
            log_folder: parts.log_folder,
            _lock: parts.lock,
        };
        Ok((store, steps))
    }
}

/// Compacts the store in a folder, without threads except for LMDB's own.
#[doc(hidden)]
pub fn compact_single_threaded(folder: &Path) -> Result<(), OpenError> {
    let (store, mut steps) = EmbeddedStore::open_single_threaded(folder, Options::default())?;
    steps.close().map_err(|error| OpenError::store(folder, error))?;
    drop((steps, store));
    compact::compact_closed(folder)
}

impl Driver {
    /// Commits all queued decisions as one group. Returns whether there were any.
    pub fn write(&mut self) -> bool {
        self.writer_loop.write_queued()
    }

    /// Brings the tree up to date, or removes some rows of dropped spaces. Returns whether there was something to apply.
    pub fn apply(&mut self) -> Result<bool, StoreError> {
        let Some((rows, sequence)) = self.due() else {
            self.applier.remove_some();
            self.applier.maintain();
            return Ok(false);
        };
        if let Err(error) = self.applier.try_to_apply(&rows, sequence) {
            self.applier.release_space(&error, 1);
            self.state.pending.failed(error.clone(), Duration::ZERO);
            self.unfinished = Some((rows, sequence));
            return Err(error);
        }
        self.applier.maintain();
        Ok(true)
    }

    /// Whether only reopening the store can help.
    pub fn is_broken(&self) -> bool {
        self.state.environment.is_broken()
    }

    /// A bug, planted for the simulation to find: the tree claims to have records before it has them.
    pub fn apply_position_first(&mut self) -> Result<bool, StoreError> {
        if let Some((rows, sequence)) = self.due() {
            self.unfinished = Some((rows, sequence));
            let position = LogPosition::open(sequence, self.durable.sequence());
            self.state.environment.write(|databases, txn| databases.position.set(txn, position))?;
        }
        self.apply()
    }

    /// Syncs the log of a relaxed store.
    pub fn sync(&mut self) {
        if self.durability == Durability::Relaxed {
            self.durable.sync();
        }
    }

    /// Closes a store that has no more writers: brings the tree up to date.
    pub fn close(&mut self) -> Result<(), StoreError> {
        while self.write() || self.apply()? {}
        self.applier.close();
        Ok(())
    }

    fn due(&mut self) -> Option<(Arc<Overlay>, u64)> {
        if let Some(unfinished) = self.unfinished.take() {
            return Some(unfinished);
        }
        match self.state.pending.next_work(Some(Duration::ZERO)) {
            ApplierWork::Apply(rows, sequence) => Some((rows, sequence)),
            ApplierWork::Idle | ApplierWork::Stop => None,
        }
    }
}
