//! The thread that syncs a relaxed store's log: acknowledged writes are on disk a tenth of a second later.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::log::durable_watermark::DurableWatermark;

const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// The handle of the thread. Dropping it syncs once more and stops the thread.
pub(crate) struct SyncThread {
    open: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SyncThread {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that syncs")]
    pub fn start(durable: Arc<DurableWatermark>) -> std::io::Result<SyncThread> {
        let (open, closed) = channel();
        let thread = std::thread::Builder::new().name("store flusher".to_string()).spawn(move || {
            while closed.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                durable.sync();
            }
            durable.sync();
        })?;
        Ok(SyncThread { open: Some(open), thread: Some(thread) })
    }
}

impl Drop for SyncThread {
    fn drop(&mut self) {
        drop(self.open.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's sync thread panicked");
        }
    }
}
