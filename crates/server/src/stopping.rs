//! How the server tells its connections to end, and waits until they have.

use tokio::sync::watch;

/// Held by the server.
pub struct Stopping(watch::Sender<bool>);

/// Held by each connection for as long as it lives.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

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
    /// Resolves when the server wants to stop.
    pub async fn wanted(&mut self) {
        // Without a sender the server is gone already.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}
