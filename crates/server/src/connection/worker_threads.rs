//! The threads that serve connections, each with a runtime of its own.
//!
//! A connection stays on the thread it was assigned to: its requests are read, executed and answered there, and no other
//! thread is woken on the way. A handover between threads costs more than most requests do. New connections go to the
//! thread that has the fewest.

use crate::limits::memory_release;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub struct WorkerThreads {
    dispatcher: Dispatcher,
    threads: Vec<Thread>,
}

/// Assigns connections to the threads.
#[derive(Clone)]
pub struct Dispatcher(Arc<[Worker]>);

struct Worker {
    runtime: Handle,
    connections: Arc<AtomicUsize>,
}

struct Thread {
    /// Dropping it ends the thread.
    stop: oneshot::Sender<()>,
    handle: JoinHandle<()>,
}

impl WorkerThreads {
    /// Starts threads named `name 1`, `name 2` and so on.
    pub fn start(name: &str, threads: usize) -> io::Result<WorkerThreads> {
        let numbers = 1..=threads.max(1);
        let started: Vec<(Worker, Thread)> =
            numbers.map(|number| start(format!("{name} {number}"))).collect::<io::Result<_>>()?;
        let (workers, threads): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        Ok(WorkerThreads { dispatcher: Dispatcher(workers.into()), threads })
    }

    pub fn dispatcher(&self) -> Dispatcher {
        self.dispatcher.clone()
    }

    /// Ends the threads, and with them any connection that is still open.
    pub fn stop(self) {
        for thread in self.threads {
            drop(thread.stop);
            if thread.handle.join().is_err() {
                tracing::error!("a worker thread panicked");
            }
        }
    }
}

impl Dispatcher {
    /// Spawns a connection's task on the thread that has the fewest connections.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        connection: impl FnOnce(ConnectionGuard) -> F,
    ) {
        let fewest = self.0.iter().min_by_key(|worker| worker.connections.load(Ordering::Relaxed));
        if let Some(worker) = fewest {
            worker.runtime.spawn(connection(ConnectionGuard::new(&worker.connections)));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "starts the threads that serve connections")]
fn start(name: String) -> io::Result<(Worker, Thread)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let worker = Worker { runtime: runtime.handle().clone(), connections: Arc::default() };
    let (stop, stopped) = oneshot::channel();
    let handle = std::thread::Builder::new().name(name).spawn(move || {
        memory_release::mark_worker_thread();
        let _ = runtime.block_on(stopped);
    })?;
    Ok((worker, Thread { stop, handle }))
}

/// Counts a connection on its thread for as long as it lives.
pub struct ConnectionGuard(Arc<AtomicUsize>);

impl ConnectionGuard {
    fn new(connections: &Arc<AtomicUsize>) -> ConnectionGuard {
        connections.fetch_add(1, Ordering::Relaxed);
        ConnectionGuard(Arc::clone(connections))
    }

    /// Lets the current thread wait for the disk if this is its only connection. Called once on that thread.
    pub fn allow_blocking_if_alone(&self) {
        partita_store::blocking::set_allowed(self.0.load(Ordering::Relaxed) == 1);
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed) - 1;
        partita_store::blocking::set_allowed(left == 1);
    }
}
