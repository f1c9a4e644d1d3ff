//! Why writes do not get on at the moment, for those who ask after the store's health; and what is called when they
//! will not get on any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use partita_store::StoreError;

type OnFailure = Box<dyn Fn(&StoreError) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Trouble {
    /// Looked at first: mostly there is none.
    is_there: AtomicBool,
    error: Mutex<Option<StoreError>>,
    on_failure: OnceLock<OnFailure>,
}

impl Trouble {
    /// Notes what came of the last try.
    pub fn set(&self, error: Option<&StoreError>) {
        if error.is_none() && !self.is_there.load(Ordering::Relaxed) {
            return;
        }
        let mut noted = self.lock();
        *noted = error.cloned();
        self.is_there.store(noted.is_some(), Ordering::Relaxed);
    }

    pub fn get(&self) -> Option<StoreError> {
        self.lock().clone()
    }

    /// Sets what is called when only a new start can help.
    pub fn on_failure(&self, call: OnFailure) {
        let _ = self.on_failure.set(call);
    }

    /// Only a new start can help.
    pub fn fail(&self, error: &StoreError) {
        tracing::error!(%error, "the store cannot go on: open it again");
        if let Some(call) = self.on_failure.get() {
            call(error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
