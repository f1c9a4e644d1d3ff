//! Drives the engine's background work: immediately while there is more to do, otherwise once a second.
//!
//! Each kind of work has a task of its own, and there are as many threads as kinds: whatever one of them waits for, a slow
//! disk or an unreachable endpoint, the others and the server's own threads continue. While a step waits for its bucket,
//! further steps of its kind run concurrently. A verification of the database takes a thread for as long as it runs.

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
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// A step that takes longer most likely waits for its bucket.
const USUAL_STEP: Duration = Duration::from_millis(250);
/// How many steps of a kind run concurrently: each holds some megabytes.
const MAX_STEPS: usize = 16;

/// The running background tasks.
pub struct BackgroundTasks<S> {
    pipeline: Arc<Pipeline<S>>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    verifying: JoinHandle<()>,
    runtime: Option<Runtime>,
}

impl<S: Store> BackgroundTasks<S> {
    pub fn start(pipeline: &Arc<Pipeline<S>>) -> io::Result<BackgroundTasks<S>> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(Work::ALL.len())
            .thread_name("background")
            .enable_all()
            .build()?;
        let due = Work::ALL.map(|_| Arc::new(Notify::new()));
        let all_due = due.clone();
        pipeline.engine.on_maintenance_due(move || all_due.iter().for_each(|due| due.notify_one()));
        let stop = watch::Sender::new(false);
        let each = Work::ALL.into_iter().zip(due);
        let spawn =
            |(work, due)| runtime.spawn(run_until_stopped(Arc::clone(pipeline), work, due, stop.subscribe()));
        let tasks = each.map(spawn).collect();
        let verifying = runtime.spawn(verify_when_due(Arc::clone(pipeline)));
        Ok(BackgroundTasks { pipeline: Arc::clone(pipeline), stop, tasks, verifying, runtime: Some(runtime) })
    }

    /// Ends the tasks between two steps, and waits until they have ended.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.pipeline.engine.stop_exchanges();
        self.pipeline.verification.stop();
        for task in self.tasks.iter_mut().chain([&mut self.verifying]) {
            let _ = task.await;
        }
    }
}

impl<S> Drop for BackgroundTasks<S> {
    /// Does not wait for a step that hangs.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Verifies the database whenever that is requested.
#[expect(clippy::disallowed_methods, reason = "a verification takes a thread of its own")]
async fn verify_when_due<S: Store>(pipeline: Arc<Pipeline<S>>) {
    while pipeline.verification.is_due().await {
        let running = Arc::clone(&pipeline);
        let run = move || running.verification.run(&running.engine);
        if tokio::task::spawn_blocking(run).await.is_err() {
            tracing::error!("a verification panicked");
            pipeline.verification.failed();
        }
    }
}

/// Runs steps of a kind of work until stopped, which cancels the steps that wait.
async fn run_until_stopped<S: Store>(
    pipeline: Arc<Pipeline<S>>,
    work: Work,
    due: Arc<Notify>,
    mut stop: watch::Receiver<bool>,
) {
    let mut steps = JoinSet::new();
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => {}
        () = run_steps(&mut steps, &pipeline, work, &due) => {}
    }
    steps.shutdown().await;
}

async fn run_steps<S: Store>(
    steps: &mut JoinSet<Result<Progress, Exception>>,
    pipeline: &Arc<Pipeline<S>>,
    work: Work,
    due: &Notify,
) {
    loop {
        steps.spawn(step(Arc::clone(pipeline), work));
        let may_run_more = work.may_wait_for_a_bucket() && steps.len() < MAX_STEPS;
        let timeout = if may_run_more { USUAL_STEP } else { Duration::MAX };
        // It may be an earlier step that has ended.
        if let Ok(Some(Ok(done))) = tokio::time::timeout(timeout, steps.join_next()).await {
            wait_until_due(work, done, due).await;
        }
    }
}

async fn step<S: Store>(pipeline: Arc<Pipeline<S>>, work: Work) -> Result<Progress, Exception> {
    let done = guard(pin!(pipeline.engine.step(work))).await;
    done.unwrap_or_else(|| Err(Exception::internal("a step panicked")))
}

/// Waits until the next step is due.
async fn wait_until_due(work: Work, done: Result<Progress, Exception>, due: &Notify) {
    match done {
        Ok(Progress::More) => tokio::task::yield_now().await,
        Ok(Progress::Done) => {
            let _ = tokio::time::timeout(IDLE_INTERVAL, due.notified()).await;
        }
        Err(exception) => {
            tracing::error!(?work, message = exception.message, "background work failed");
            tokio::time::sleep(IDLE_INTERVAL).await;
        }
    }
}
