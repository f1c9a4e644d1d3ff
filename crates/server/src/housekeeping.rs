//! Keeps the engine's background work going: at once where there is more, otherwise once a second.

use crate::pipeline::Pipeline;
use partita_engine::maintenance::Progress;
use partita_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

const PAUSE: Duration = Duration::from_secs(1);

/// Runs until it is dropped.
pub async fn run<S: Store>(pipeline: Arc<Pipeline<S>>) {
    let due = Arc::new(Notify::new());
    let wake = Arc::clone(&due);
    pipeline.engine.on_maintenance_due(move || wake.notify_one());
    loop {
        match pipeline.engine.maintain().await {
            Ok(Progress::More) => tokio::task::yield_now().await,
            Ok(Progress::Done) => {
                let _ = tokio::time::timeout(PAUSE, due.notified()).await;
            }
            Err(exception) => {
                tracing::error!(message = exception.message, "background work failed");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
