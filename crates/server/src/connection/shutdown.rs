//! Graceful shutdown: connections are asked to close, all of them when the server stops or one whose slot is needed, and
//! the server waits until they have.

use crate::limits::connection_limit::ConnectionSlot;
use std::sync::Arc;
use tokio::sync::watch;

/// Held by the server.
pub struct Shutdown(watch::Sender<bool>);

/// Held by each connection for as long as it lives: its slot, and the signal to close.
#[derive(Clone)]
pub struct CloseSignal {
    shutdown: watch::Receiver<bool>,
    pub slot: Arc<ConnectionSlot>,
}

impl Shutdown {
    pub fn new() -> Shutdown {
        Shutdown(watch::Sender::new(false))
    }

    pub fn close_signal(&self, slot: ConnectionSlot) -> CloseSignal {
        CloseSignal { shutdown: self.0.subscribe(), slot: Arc::new(slot) }
    }

    /// Asks all connections to close once their requests are answered, and waits until none is left.
    pub async fn drain(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

impl CloseSignal {
    /// Resolves when the server shuts down, or needs the slot for another connection.
    pub async fn received(&mut self) {
        tokio::select! {
            // An error means that the server is gone already.
            _ = self.shutdown.wait_for(|shutdown| *shutdown) => {}
            () = self.slot.evicted() => {}
        }
    }
}
