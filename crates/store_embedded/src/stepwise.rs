//! The store without threads: writer, applier and flusher are steps that somebody else takes, in an order of his.
//!
//! For the simulation (crates/simulation), which has to decide what happens when. The steps are those of the threads.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use partita_store::StoreError;

use crate::applier::{Application, Applier};
use crate::durable::Durable;
use crate::open_error::OpenError;
use crate::overlay::Overlay;
use crate::pending::Work;
use crate::recovery::OnDamage;
use crate::writer::{Scribe, Writer};
use crate::{EmbeddedStore, Options, Pace, Parts};

/// What threads would do. A store is of no use without them.
pub struct Steps {
    scribe: Scribe,
    application: Application,
    flushed: Option<Arc<Durable>>,
    /// What could not be written to the tree yet.
    unfinished: Option<(Arc<Overlay>, u64)>,
}

impl EmbeddedStore {
    /// Opens a store that does nothing but what its steps do.
    #[doc(hidden)]
    pub fn open_stepwise(folder: &Path, options: Options) -> Result<(EmbeddedStore, Steps), OpenError> {
        let parts = Parts::open(folder, options, Pace::Stepwise, OnDamage::Refuse)?;
        let (writer, scribe) = Writer::without_thread(Arc::clone(&parts.shared), parts.log);
        let applier = Applier::without_thread(Arc::clone(&parts.shared.pending));
        let store = EmbeddedStore {
            writer,
            _applier: applier,
            _flusher: None,
            shared: parts.shared,
            log_folder: parts.log_folder,
            _lock: parts.lock,
        };
        let (application, flushed) = (parts.application, parts.flushed);
        Ok((store, Steps { scribe, application, flushed, unfinished: None }))
    }
}

impl Steps {
    /// Commits all decisions that wait, as one group. Says whether there were any.
    pub fn write(&mut self) -> bool {
        self.scribe.write_waiting()
    }

    /// Brings the tree up to date, or removes some rows of dropped spaces. Says whether there was something to apply.
    pub fn apply(&mut self) -> Result<bool, StoreError> {
        let Some((rows, sequence)) = self.unfinished.take().or_else(|| self.due()) else {
            self.application.remove_some();
            return Ok(false);
        };
        if let Err(error) = self.application.try_to_apply(&rows, sequence) {
            self.application.failed(error.clone());
            self.unfinished = Some((rows, sequence));
            return Err(error);
        }
        self.application.prepare();
        Ok(true)
    }

    /// A mistake, planted for the simulation to find: the tree says it has what it has not yet.
    pub fn apply_position_first(&mut self) -> Result<bool, StoreError> {
        let Some((rows, sequence)) = self.unfinished.take().or_else(|| self.due()) else { return Ok(false) };
        self.application.claim(sequence)?;
        self.unfinished = Some((rows, sequence));
        self.apply()
    }

    /// Flushes the log of a relaxed store.
    pub fn flush(&mut self) {
        if let Some(durable) = &self.flushed {
            durable.flush();
        }
    }

    /// The end of a store that nobody writes to any more: the tree has everything.
    pub fn close(&mut self) -> Result<(), StoreError> {
        while self.write() || self.apply()? {}
        self.application.close();
        Ok(())
    }

    fn due(&self) -> Option<(Arc<Overlay>, u64)> {
        match self.application.next_work(Some(Duration::ZERO)) {
            Work::Apply(rows, sequence) => Some((rows, sequence)),
            Work::Rest | Work::End => None,
        }
    }
}
