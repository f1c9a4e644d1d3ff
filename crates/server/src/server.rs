//! Accepts connections and passes each on to a thread that serves it, until the server is asked to stop.
//!
//! The thread that accepts does nothing else but answer health probes (`connection/health_probe.rs`), so that neither requests
//! nor background tasks delay either. Probes on encrypted connections are answered by the thread for TLS handshakes.

use crate::background_tasks::BackgroundTasks;
use crate::clock;
use crate::connection::shutdown::Shutdown;
use crate::connection::spare_descriptor::SpareDescriptor;
use crate::connection::worker_threads::WorkerThreads;
use crate::connection::{ConnectionHandler, detach};
use crate::http::reply::{Refusal, Reply};
use crate::limits::budget::Budget;
use crate::limits::connection_limit::ConnectionLimit;
use crate::pipeline::Pipeline;
use partita_store::{Health, Store};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// How long running requests and background tasks may take once the server is asked to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(7);
/// How long a rejected client may take to read why.
const REJECTION_TIMEOUT: Duration = Duration::from_millis(200);
/// How many rejected clients receive a reason at the same time.
const CONCURRENT_REJECTIONS: usize = 4;

const HEALTH_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a store must have failed before the server gives up on it.
const STORE_FAILURE_TIMEOUT: Duration = Duration::from_secs(30);

/// Where and how to listen.
pub struct ListenOptions<'a> {
    pub host: &'a str,
    pub port: u16,
    /// If set, connections are encrypted.
    pub tls: Option<TlsAcceptor>,
    /// How many threads serve connections.
    pub threads: usize,
    /// How many connections may be open at the same time.
    pub connections: usize,
}

/// A bound socket, and everything that serves its connections.
pub struct Server<S> {
    listener: TcpListener,
    encryption: Option<Encryption>,
    pipeline: Arc<Pipeline<S>>,
    connections: Arc<ConnectionLimit>,
    workers: WorkerThreads,
    spare: SpareDescriptor,
    /// Permits to send a client the reason for its rejection.
    rejections: Arc<Semaphore>,
}

struct Encryption {
    acceptor: TlsAcceptor,
    handshake_thread: WorkerThreads,
}

/// What is left once a server has stopped.
pub struct StoppedServer<S> {
    /// The pipeline, so that its store can be closed; `None` if something still uses it.
    pub pipeline: Option<Pipeline<S>>,
    /// The store's error, if that is why the server stopped.
    pub failure: Option<String>,
}

impl<S: Store> Server<S> {
    pub async fn bind(options: ListenOptions<'_>, pipeline: Pipeline<S>) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind((options.host, options.port)).await?;
        pipeline.engine.set_endpoint(listener.local_addr()?.to_string());
        let workers = WorkerThreads::start("worker", options.threads)?;
        let encrypt = |acceptor| {
            WorkerThreads::start("tls-handshake", 1)
                .map(|handshake_thread| Encryption { acceptor, handshake_thread })
        };
        let encryption = options.tls.map(encrypt).transpose()?;
        let connections = ConnectionLimit::new(options.connections, pipeline.budget);
        Ok(Server {
            listener,
            encryption,
            pipeline: Arc::new(pipeline),
            connections,
            workers,
            spare: SpareDescriptor::open(),
            rejections: Arc::new(Semaphore::new(CONCURRENT_REJECTIONS)),
        })
    }

    /// The URL for clients: `http://127.0.0.1:8000`.
    pub fn endpoint(&self) -> std::io::Result<String> {
        let scheme = if self.encryption.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// Serves until `stop` resolves, or the store has failed for good; running requests are finished first.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> std::io::Result<StoppedServer<S>> {
        let shutdown = Shutdown::new();
        let background = BackgroundTasks::start(&self.pipeline)?;
        let failure = self.accept_until(stop, &shutdown).await;
        drop(self.listener);
        let all_ended = async { tokio::join!(background.stop(), shutdown.drain()) };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, all_ended).await.is_err() {
            tracing::warn!("some requests or background tasks did not finish in time");
        }
        if let Some(encryption) = self.encryption {
            encryption.handshake_thread.stop();
        }
        self.workers.stop();
        Ok(StoppedServer { pipeline: Arc::into_inner(self.pipeline), failure })
    }

    /// Accepts connections; returns the store's error if that is why it ended.
    async fn accept_until(&mut self, stop: impl Future<Output = ()>, shutdown: &Shutdown) -> Option<String> {
        let pipeline = Arc::clone(&self.pipeline);
        let mut failing = pin!(store_failure(&pipeline));
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => self.dispatch(stream, shutdown).await,
                    Err(error) => self.recover_from_accept_error(&error).await,
                },
                () = &mut stop => return None,
                failure = &mut failing => return Some(failure),
            }
        }
    }

    /// Passes a connection on to a thread, or rejects it if there are too many.
    async fn dispatch(&self, stream: TcpStream, shutdown: &Shutdown) {
        let Some(slot) = self.connections.acquire().await else {
            self.pipeline.budget.record_rejected_connection();
            // Without encryption the client can be sent the reason, as long as not too many are.
            if let (None, Ok(permit)) = (&self.encryption, Arc::clone(&self.rejections).try_acquire_owned()) {
                tokio::spawn(reject(stream, self.pipeline.budget, permit));
            }
            return;
        };
        let handler =
            ConnectionHandler { pipeline: Arc::clone(&self.pipeline), close: shutdown.close_signal(slot) };
        let workers = self.workers.dispatcher();
        let Some(Encryption { acceptor, handshake_thread }) = &self.encryption else {
            tokio::spawn(handler.start(stream, workers));
            return;
        };
        // A TLS handshake takes too long for this thread.
        if let Some(stream) = detach(stream) {
            let dispatcher = handshake_thread.dispatcher();
            dispatcher.spawn(|guard| handler.accept_tls(stream, acceptor.clone(), workers, guard));
        }
    }

    /// Most likely the process is out of file descriptors: closes one waiting connection, so that its client does not wait
    /// in vain, and evicts an idle one.
    async fn recover_from_accept_error(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "could not accept a connection");
        self.pipeline.budget.record_rejected_connection();
        self.connections.evict_idle();
        self.spare.release();
        let _ = tokio::time::timeout(Duration::from_millis(20), self.listener.accept()).await;
        self.spare.reopen();
    }
}

/// Resolves with the store's error, once it has failed for so long that it does not recover by itself.
async fn store_failure<S: Store>(pipeline: &Pipeline<S>) -> String {
    let mut since: Option<Instant> = None;
    loop {
        tokio::time::sleep(HEALTH_CHECK_INTERVAL).await;
        match pipeline.engine.health() {
            Health::Failed(text) if since.is_some_and(|since| since.elapsed() >= STORE_FAILURE_TIMEOUT) => {
                return text;
            }
            Health::Failed(_) => since = since.or_else(|| Some(clock::monotonic_now())),
            Health::Ok | Health::Full(_) | Health::ReadOnly(_) => since = None,
        }
    }
}

/// Sends the response that there are too many connections.
async fn reject(mut stream: TcpStream, budget: &'static Budget, _permit: OwnedSemaphorePermit) {
    let refusal = Reply::closing(Refusal::BudgetExceeded, budget.reservation()).into_http1();
    let rejected = async {
        // What it has sent is read first: to close with unread bytes resets the connection, and the response is lost.
        stream.readable().await?;
        let _ = stream.try_read(&mut [0; 8 * 1_024]);
        stream.write_all(refusal.as_ref()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(REJECTION_TIMEOUT, rejected).await;
}
