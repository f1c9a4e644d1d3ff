//! Keeps the engine's background work going: at once where there is more, otherwise once a second. Exports and imports go on
//! beside the rest, because they may wait for an endpoint that is slow or away. Verifications have a thread of their own.

use crate::pipeline::Pipeline;
use partita_api::Exception;
use partita_engine::maintenance::Progress;
use partita_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

const PAUSE: Duration = Duration::from_secs(1);

/// The background work while it runs.
pub struct Housekeeping<S> {
    pipeline: Arc<Pipeline<S>>,
    tasks: [JoinHandle<()>; 2],
    verifying: JoinHandle<()>,
}

impl<S: Store> Housekeeping<S> {
    pub fn start(pipeline: &Arc<Pipeline<S>>) -> Housekeeping<S> {
        let due = [Arc::new(Notify::new()), Arc::new(Notify::new())];
        let [upkeep_due, exchange_due] = due.clone();
        pipeline.engine.on_maintenance_due(move || due.iter().for_each(|due| due.notify_one()));
        let (upkeep, exchange) = (Arc::clone(pipeline), Arc::clone(pipeline));
        let tasks = [
            tokio::spawn(async move {
                loop {
                    rest(upkeep.engine.keep_up().await, &upkeep_due).await;
                }
            }),
            tokio::spawn(async move {
                loop {
                    rest(exchange.engine.work_on_exchanges().await, &exchange_due).await;
                }
            }),
        ];
        let verifying = tokio::spawn(verify_when_due(Arc::clone(pipeline)));
        Housekeeping { pipeline: Arc::clone(pipeline), tasks, verifying }
    }

    pub async fn stop(self) {
        for task in &self.tasks {
            task.abort();
        }
        self.pipeline.engine.stop_exchanges();
        self.pipeline.verification.stop();
        for task in self.tasks.into_iter().chain([self.verifying]) {
            let _ = task.await;
        }
    }
}

/// Verifies the database whenever somebody asks for it.
async fn verify_when_due<S: Store>(pipeline: Arc<Pipeline<S>>) {
    while pipeline.verification.is_due().await {
        let pipeline = Arc::clone(&pipeline);
        let run = move || pipeline.verification.run(&pipeline.engine);
        if tokio::task::spawn_blocking(run).await.is_err() {
            tracing::error!("a verification ended in a panic");
        }
    }
}

/// Waits until the next step is due.
async fn rest(done: Result<Progress, Exception>, due: &Notify) {
    match done {
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
