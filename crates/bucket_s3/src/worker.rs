//! The thread on which requests to the endpoint run, for blocking callers. It has a small runtime of its own, so that
//! connections stay alive between requests.

use std::future::Future;
use std::pin::Pin;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::{mpsc, watch};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

pub struct Worker {
    jobs: mpsc::UnboundedSender<Job>,
    stopping: watch::Sender<bool>,
}

impl Worker {
    #[expect(clippy::disallowed_methods, reason = "starts the thread of all requests to buckets")]
    pub fn start() -> std::io::Result<Worker> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (jobs, queue) = mpsc::unbounded_channel();
        let stopping = watch::Sender::new(false);
        let stop = stopping.subscribe();
        let work = move || runtime.block_on(work(queue, stop));
        std::thread::Builder::new().name("partita-s3".to_owned()).spawn(work)?;
        Ok(Worker { jobs, stopping })
    }

    /// Runs a job and waits for its result; `None` once the worker has stopped.
    pub fn run<T: Send + 'static>(&self, job: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        let job = async move {
            let _ = answer.send(job.await);
        };
        self.jobs.send(Box::pin(job)).ok()?;
        block(|| answered.recv().ok())
    }

    /// Cancels all jobs.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }
}

async fn work(mut queue: mpsc::UnboundedReceiver<Job>, mut stop: watch::Receiver<bool>) {
    let work = async {
        while let Some(job) = queue.recv().await {
            // A task of its own: if it panics, only its own result is missing, and if it waits, the others continue. All end
            // with the runtime.
            drop(tokio::spawn(job));
        }
    };
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

/// Blocks the thread; a multi-threaded runtime is notified, so that another thread runs its other tasks.
fn block<T>(wait: impl FnOnce() -> T) -> T {
    let is_multi_threaded =
        Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_multi_threaded { tokio::task::block_in_place(wait) } else { wait() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_panicking_job_loses_only_its_own_result() {
        let worker = Worker::start().unwrap();
        assert_eq!(worker.run(async { panic!("as expected") }), None::<()>);
        assert_eq!(worker.run(async { 1 }), Some(1));
    }

    #[test]
    fn a_waiting_job_does_not_delay_others() {
        let worker = Arc::new(Worker::start().unwrap());
        let waits = Arc::clone(&worker);
        let waiting = std::thread::spawn(move || waits.run(std::future::pending::<()>()));
        std::thread::sleep(Duration::from_millis(20));
        let (answer, answered) = std::sync::mpsc::channel();
        let other = Arc::clone(&worker);
        std::thread::spawn(move || answer.send(other.run(async { 1 })));
        assert_eq!(answered.recv_timeout(Duration::from_secs(10)), Ok(Some(1)));
        worker.stop();
        assert_eq!(waiting.join().unwrap(), None);
    }

    #[test]
    fn stopping_releases_waiting_callers() {
        let worker = Arc::new(Worker::start().unwrap());
        let waits = Arc::clone(&worker);
        let waiting = std::thread::spawn(move || waits.run(std::future::pending::<()>()));
        std::thread::sleep(Duration::from_millis(20));
        worker.stop();
        assert_eq!(waiting.join().unwrap(), None);
        assert_eq!(worker.run(async { 1 }), None);
    }
}
