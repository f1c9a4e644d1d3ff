//! The store without threads: writer, applier and flusher are steps that somebody else takes, in an order of his.
//!
//! For the simulation (crates/simulation), which decides what happens when. The steps are those of the threads.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use partita_store::StoreError;

use crate::log::durable_watermark::Durable;
use crate::log::position::Position;
use crate::log::recovery::OnDamage;
use crate::offline::compact;
use crate::open_error::OpenError;
use crate::write::applier::{Application, Applier};
use crate::write::overlay::Overlay;
use crate::write::pending::Work;
use crate::write::store_state::Shared;
use crate::write::writer::{Scribe, Writer};
use crate::{Durability, EmbeddedStore, Options, Pace, Parts};

/// What threads would do; the store does nothing without them.
pub struct Steps {
    scribe: Scribe,
    application: Application,
    shared: Arc<Shared>,
    durable: Arc<Durable>,
    durability: Durability,
    /// What could not be written to the tree yet.
    unfinished: Option<(Arc<Overlay>, u64)>,
}

impl EmbeddedStore {
    /// Opens a store that does nothing but what its steps do.
    #[doc(hidden)]
    pub fn open_stepwise(folder: &Path, options: Options) -> Result<(EmbeddedStore, Steps), OpenError> {
        let parts = Parts::open(folder, options, Pace::Stepwise, OnDamage::Refuse)?;
        let (writer, scribe) = Writer::without_thread(Arc::clone(&parts.shared), parts.log);
        let steps = Steps {
            scribe,
            application: parts.application,
            shared: Arc::clone(&parts.shared),
            durable: Arc::clone(&parts.durable),
            durability: parts.durability,
            unfinished: None,
        };
        let store = EmbeddedStore {
            writer,
            _applier: Applier::without_thread(Arc::clone(&parts.shared)),
            _flusher: None,
            shared: parts.shared,
            durable: parts.durable,
            log_folder: parts.log_folder,
            _lock: parts.lock,
        };
        Ok((store, steps))
    }
}

/// Compacts the store in a folder, without threads but for LMDB's own.
#[doc(hidden)]
pub fn compact_stepwise(folder: &Path) -> Result<(), OpenError> {
    let (store, mut steps) = EmbeddedStore::open_stepwise(folder, Options::default())?;
    steps.close().map_err(|error| OpenError::store(folder, error))?;
    drop((steps, store));
    compact::compact_closed(folder)
}

impl Steps {
    /// Commits all decisions that wait, as one group. Says whether there were any.
    pub fn write(&mut self) -> bool {
        self.scribe.write_waiting()
    }

    /// Brings the tree up to date, or removes some rows of dropped spaces. Says whether there was something to apply.
    pub fn apply(&mut self) -> Result<bool, StoreError> {
        let Some((rows, sequence)) = self.due() else {
            self.application.remove_some();
            self.application.prepare();
            return Ok(false);
        };
        if let Err(error) = self.application.try_to_apply(&rows, sequence) {
            self.application.make_room(&error, 1);
            self.shared.pending.failed(error.clone(), Duration::ZERO);
            self.unfinished = Some((rows, sequence));
            return Err(error);
        }
        self.application.prepare();
        Ok(true)
    }

    /// Whether only to open the store again may help.
    pub fn is_broken(&self) -> bool {
        self.shared.environment.is_broken()
    }

    /// A mistake, planted for the simulation to find: the tree says that it has what it has not yet.
    pub fn apply_position_first(&mut self) -> Result<bool, StoreError> {
        if let Some((rows, sequence)) = self.due() {
            self.unfinished = Some((rows, sequence));
            let position = Position::open(sequence, self.durable.sequence());
            self.shared.environment.write(|tree, txn| tree.position.set(txn, position))?;
        }
        self.apply()
    }

    /// Flushes the log of a relaxed store.
    pub fn flush(&mut self) {
        if self.durability == Durability::Relaxed {
            self.durable.flush();
        }
    }

    /// The end of a store that nobody writes to any more: the tree has everything.
    pub fn close(&mut self) -> Result<(), StoreError> {
        while self.write() || self.apply()? {}
        self.application.close();
        Ok(())
    }

    fn due(&mut self) -> Option<(Arc<Overlay>, u64)> {
        if let Some(unfinished) = self.unfinished.take() {
            return Some(unfinished);
        }
        match self.shared.pending.next_work(Some(Duration::ZERO)) {
            Work::Apply(rows, sequence) => Some((rows, sequence)),
            Work::Rest | Work::End => None,
        }
    }
}
