//! Whether writes succeed at the moment, for the store's health; and the callback for when they never will again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use partita_store::StoreError;

type OnFailure = Box<dyn Fn(&StoreError) + Send + Sync>;

#[derive(Default)]
pub(crate) struct WriteHealth {
    /// Checked first: usually there is no error.
    has_error: AtomicBool,
    error: Mutex<Option<StoreError>>,
    on_failure: OnceLock<OnFailure>,
}

impl WriteHealth {
    /// Records the outcome of the last write.
    pub fn record(&self, error: Option<&StoreError>) {
        if error.is_none() && !self.has_error.load(Ordering::Relaxed) {
            return;
        }
        let mut current = self.lock();
        *current = error.cloned();
        self.has_error.store(current.is_some(), Ordering::Relaxed);
    }

    pub fn get(&self) -> Option<StoreError> {
        self.lock().clone()
    }

    /// Sets the callback for when only a restart can help.
    pub fn on_failure(&self, call: OnFailure) {
        let _ = self.on_failure.set(call);
    }

    /// Reports that only a restart can help.
    pub fn report_fatal(&self, error: &StoreError) {
        tracing::error!(%error, "the store cannot continue: reopen it");
        if let Some(call) = self.on_failure.get() {
            call(error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
