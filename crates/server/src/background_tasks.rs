//! Keeps the engine's background work going: at once where there is more, otherwise once a second.
//!
//! Each kind of work has a task of its own, and there are as many threads as kinds: whatever one of them waits for, a slow
//! disk or an endpoint that is away, the others and the server's own threads go on. A step that waits for its bucket is left to
//! wait, and further steps of its kind are taken beside it.
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
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

const PAUSE: Duration = Duration::from_secs(1);
/// A step that takes longer than this waits for its bucket, most likely.
const USUAL_STEP: Duration = Duration::from_millis(250);
/// So many of a kind wait at most: each has some megabytes in hand.
const MOST_STEPS: usize = 16;

/// The background work while it runs.
pub struct Housekeeping<S> {
    pipeline: Arc<Pipeline<S>>,
    stop: watch::Sender<bool>,
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
        let stop = watch::Sender::new(false);
        let each = Work::ALL.into_iter().zip(due);
        let begin =
            |(work, due)| runtime.spawn(until_stopped(Arc::clone(pipeline), work, due, stop.subscribe()));
        let tasks = each.map(begin).collect();
        let verifying = runtime.spawn(verify_when_due(Arc::clone(pipeline)));
        Ok(Housekeeping { pipeline: Arc::clone(pipeline), stop, tasks, verifying, runtime: Some(runtime) })
    }

    /// Ends the work between two steps, and waits for these.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
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
#[expect(clippy::disallowed_methods, reason = "a verification takes a thread of its own")]
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

/// Takes steps of a kind of work. Told to stop, it ends them where they wait.
async fn until_stopped<S: Store>(
    pipeline: Arc<Pipeline<S>>,
    work: Work,
    due: Arc<Notify>,
    mut stop: watch::Receiver<bool>,
) {
    let mut steps = JoinSet::new();
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => {}
        () = go_on(&mut steps, &pipeline, work, &due) => {}
    }
    steps.shutdown().await;
}

async fn go_on<S: Store>(
    steps: &mut JoinSet<Result<Progress, Exception>>,
    pipeline: &Arc<Pipeline<S>>,
    work: Work,
    due: &Notify,
) {
    loop {
        steps.spawn(step(Arc::clone(pipeline), work));
        let takes_more = work.may_wait_for_a_bucket() && steps.len() < MOST_STEPS;
        let longest = if takes_more { USUAL_STEP } else { Duration::MAX };
        // It may be another that has ended meanwhile.
        if let Ok(Some(Ok(done))) = tokio::time::timeout(longest, steps.join_next()).await {
            rest(work, done, due).await;
        }
    }
}

async fn step<S: Store>(pipeline: Arc<Pipeline<S>>, work: Work) -> Result<Progress, Exception> {
    let done = guard(pin!(pipeline.engine.step(work))).await;
    done.unwrap_or_else(|| Err(Exception::internal("a step panicked")))
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
