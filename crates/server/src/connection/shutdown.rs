//! How connections are told to end, all of them by the server that stops or one whose place is needed, and how the server
//! waits until they have.

use crate::limits::connection_limit::Place;
use std::sync::Arc;
use tokio::sync::watch;

/// Held by the server.
pub struct Stopping(watch::Sender<bool>);

/// Held by each connection for as long as it lives.
pub struct Stop(watch::Receiver<bool>);

/// A connection's stay: its place, and until when it has it.
#[derive(Clone)]
pub struct Stay {
    stop: watch::Receiver<bool>,
    pub place: Arc<Place>,
}

impl Stopping {
    pub fn new() -> Stopping {
        Stopping(watch::Sender::new(false))
    }

    pub fn watcher(&self) -> Stop {
        Stop(self.0.subscribe())
    }

    /// Tells all connections to end once their requests are answered, and waits until none is left.
    pub async fn all_ended(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

impl Stop {
    pub fn stay(self, place: Place) -> Stay {
        Stay { stop: self.0, place: Arc::new(place) }
    }
}

impl Stay {
    /// Resolves when the server wants to stop, or needs the place for another.
    pub async fn is_over(&mut self) {
        tokio::select! {
            // Without a sender the server is gone already.
            _ = self.stop.wait_for(|stop| *stop) => {}
            () = self.place.needed() => {}
        }
    }
}
