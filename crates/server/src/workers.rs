//! The threads that serve connections, each with a runtime of its own.
//!
//! A connection stays on the thread it was given to: its requests are read, answered and written there, and no other
//! thread is woken on the way. That hand-over costs more than most requests do. New connections go to the thread
//! that has the fewest.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub struct Workers(Vec<Worker>);

struct Worker {
    runtime: Handle,
    connections: Arc<AtomicUsize>,
    /// Dropped, it ends the thread.
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Workers {
    pub fn start(threads: usize) -> io::Result<Workers> {
        (1..=threads.max(1)).map(Worker::start).collect::<io::Result<_>>().map(Workers)
    }

    /// Serves a connection on the thread that has the fewest.
    pub fn serve(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let Some(worker) = self.0.iter().min_by_key(|worker| worker.connections.load(Ordering::Relaxed))
        else {
            return;
        };
        let guest = Guest::at(&worker.connections);
        worker.runtime.spawn(async move {
            guest.sits_down();
            connection.await;
            drop(guest);
        });
    }

    /// Ends the threads; what they still served ends with them.
    pub fn stop(self) {
        for worker in self.0 {
            drop(worker.stop);
            if worker.thread.join().is_err() {
                tracing::error!("a thread that served connections had panicked");
            }
        }
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Worker> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name(format!("worker {number}")).spawn(move || {
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Worker { runtime: handle, connections: Arc::default(), stop, thread })
    }
}

/// A connection, counted with its thread for as long as this lives.
struct Guest(Arc<AtomicUsize>);

impl Guest {
    fn at(connections: &Arc<AtomicUsize>) -> Guest {
        connections.fetch_add(1, Ordering::Relaxed);
        Guest(Arc::clone(connections))
    }

    fn sits_down(&self) {
        partita_store::patience::set(self.0.load(Ordering::Relaxed) == 1);
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed) - 1;
        partita_store::patience::set(left == 1);
    }
}
