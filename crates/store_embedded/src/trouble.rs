//! Why writes do not get on at the moment, for those who ask after the store's health.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use partita_store::StoreError;

#[derive(Default)]
pub(crate) struct Trouble {
    /// Looked at first: mostly there is none.
    is_there: AtomicBool,
    error: Mutex<Option<StoreError>>,
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

    fn lock(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
