//! The threads that serve connections, each with a runtime of its own.
//!
//! A connection stays on the thread it was given to: its requests are read, answered and written there, and no other
//! thread is woken on the way. That hand-over costs more than most requests do. New connections go to the thread
//! that has the fewest.

use crate::limits::memory_release;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub struct Workers {
    desks: Desks,
    threads: Vec<Thread>,
}

/// Where connections are given to the threads.
#[derive(Clone)]
pub struct Desks(Arc<[Desk]>);

struct Desk {
    runtime: Handle,
    connections: Arc<AtomicUsize>,
}

struct Thread {
    /// Dropped, it ends the thread.
    stop: oneshot::Sender<()>,
    handle: JoinHandle<()>,
}

impl Workers {
    /// Starts threads of this name.
    pub fn start(name: &str, threads: usize) -> io::Result<Workers> {
        let numbers = 1..=threads.max(1);
        let started: Vec<(Desk, Thread)> =
            numbers.map(|number| start(format!("{name} {number}"))).collect::<io::Result<_>>()?;
        let (desks, threads): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        Ok(Workers { desks: Desks(desks.into()), threads })
    }

    pub fn desks(&self) -> Desks {
        self.desks.clone()
    }

    /// Ends the threads; what they still served ends with them.
    pub fn stop(self) {
        for thread in self.threads {
            drop(thread.stop);
            if thread.handle.join().is_err() {
                tracing::error!("a thread that served connections had panicked");
            }
        }
    }
}

impl Desks {
    /// Serves a connection on the thread that has the fewest.
    pub fn serve<F: Future<Output = ()> + Send + 'static>(&self, connection: impl FnOnce(Guest) -> F) {
        let fewest = self.0.iter().min_by_key(|desk| desk.connections.load(Ordering::Relaxed));
        if let Some(desk) = fewest {
            desk.runtime.spawn(connection(Guest::at(&desk.connections)));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "starts the threads that serve connections")]
fn start(name: String) -> io::Result<(Desk, Thread)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let desk = Desk { runtime: runtime.handle().clone(), connections: Arc::default() };
    let (stop, stopped) = oneshot::channel();
    let handle = std::thread::Builder::new().name(name).spawn(move || {
        memory_release::this_thread_serves();
        let _ = runtime.block_on(stopped);
    })?;
    Ok((desk, Thread { stop, handle }))
}

/// A connection, counted with its thread for as long as this lives.
pub struct Guest(Arc<AtomicUsize>);

impl Guest {
    fn at(connections: &Arc<AtomicUsize>) -> Guest {
        connections.fetch_add(1, Ordering::Relaxed);
        Guest(Arc::clone(connections))
    }

    /// Said on its thread, once it is there.
    pub fn sits_down(&self) {
        partita_store::patience::set(self.0.load(Ordering::Relaxed) == 1);
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed) - 1;
        partita_store::patience::set(left == 1);
    }
}
