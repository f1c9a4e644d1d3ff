//! Keeps the engine's background work going: at once where there is more, otherwise once a second.
//!
//! Each kind of work has a task of its own, and there are as many threads as kinds: whatever one of them waits for, a slow
//! disk or an endpoint that is away, the others and the server's own threads go on.
//! A verification of the database takes a thread for as long as it runs.

use crate::panic_guard::guard;
use crate::pipeline::Pipeline;
use partita_api::Exception;
use partita_engine::maintenance::{Progress, Work};
use partita_store::Store;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

const PAUSE: Duration = Duration::from_secs(1);

/// The background work while it runs.
pub struct Housekeeping<S> {
    pipeline: Arc<Pipeline<S>>,
    tasks: Vec<JoinHandle<()>>,
    verifying: JoinHandle<()>,
    runtime: Option<Runtime>,
}

impl<S: Store> Housekeeping<S> {
    pub fn start(pipeline: &Arc<Pipeline<S>>) -> io::Result<Housekeeping<S>> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(Work::ALL.len())
            .thread_name("background")
            .enable_all()
            .build()?;
        let due = Work::ALL.map(|_| Arc::new(Notify::new()));
        let all_due = due.clone();
        pipeline.engine.on_maintenance_due(move || all_due.iter().for_each(|due| due.notify_one()));
        let each = Work::ALL.into_iter().zip(due);
        let tasks = each.map(|(work, due)| runtime.spawn(go_on(Arc::clone(pipeline), work, due))).collect();
        let verifying = runtime.spawn(verify_when_due(Arc::clone(pipeline)));
        Ok(Housekeeping { pipeline: Arc::clone(pipeline), tasks, verifying, runtime: Some(runtime) })
    }

    /// Ends the work between two steps, and waits for these.
    pub async fn stop(mut self) {
        for task in &self.tasks {
            task.abort();
        }
        self.pipeline.engine.stop_exchanges();
        self.pipeline.verification.stop();
        for task in self.tasks.iter_mut().chain([&mut self.verifying]) {
            let _ = task.await;
        }
    }
}

impl<S> Drop for Housekeeping<S> {
    /// Waits for no step that hangs.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Verifies the database whenever somebody asks for it.
async fn verify_when_due<S: Store>(pipeline: Arc<Pipeline<S>>) {
    while pipeline.verification.is_due().await {
        let running = Arc::clone(&pipeline);
        let run = move || running.verification.run(&running.engine);
        if tokio::task::spawn_blocking(run).await.is_err() {
            tracing::error!("a verification ended in a panic");
            pipeline.verification.failed();
        }
    }
}

async fn go_on<S: Store>(pipeline: Arc<Pipeline<S>>, work: Work, due: Arc<Notify>) {
    loop {
        let done = guard(pin!(pipeline.engine.step(work))).await;
        rest(work, done.unwrap_or_else(|| Err(Exception::internal("a step panicked"))), &due).await;
    }
}

/// Waits until the next step is due.
async fn rest(work: Work, done: Result<Progress, Exception>, due: &Notify) {
    match done {
        Ok(Progress::More) => tokio::task::yield_now().await,
        Ok(Progress::Done) => {
            let _ = tokio::time::timeout(PAUSE, due.notified()).await;
        }
        Err(exception) => {
            tracing::error!(?work, message = exception.message, "background work failed");
            tokio::time::sleep(PAUSE).await;
        }
    }
}
