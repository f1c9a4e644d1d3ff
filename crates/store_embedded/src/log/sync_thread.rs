//! The thread that flushes a relaxed store's log: what was answered is on disk a tenth of a second later.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::log::durable_watermark::Durable;

const EVERY: Duration = Duration::from_millis(100);

/// Dropped, it flushes once more and ends.
pub(crate) struct Flusher {
    open: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that syncs")]
    pub fn start(durable: Arc<Durable>) -> std::io::Result<Flusher> {
        let (open, closed) = channel();
        let thread = std::thread::Builder::new().name("store flusher".to_string()).spawn(move || {
            while closed.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                durable.flush();
            }
            durable.flush();
        })?;
        Ok(Flusher { open: Some(open), thread: Some(thread) })
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        drop(self.open.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's flusher ended in a panic");
        }
    }
}
