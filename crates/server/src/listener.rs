//! Accepts connections and serves each until it ends or the server is told to stop.

use crate::fast_lane::{self, Left};
use crate::housekeeping::Housekeeping;
use crate::lingering::Lingering;
use crate::pipeline::Pipeline;
use crate::prefixed::Prefixed;
use crate::stopping::{Stop, Stopping};
use crate::workers::Workers;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use partita_store::Store;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// How long requests under way may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long a client may take to send a request's headers, and to send the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a client may take to agree on a key.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Where and how to listen.
pub struct Listen<'a> {
    pub host: &'a str,
    pub port: u16,
    /// Connections are encrypted, if there is one.
    pub tls: Option<TlsAcceptor>,
    /// How many threads serve connections; one a core unless said otherwise.
    pub threads: Option<usize>,
}

/// A bound socket and what answers on it.
pub struct Server<S> {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    pipeline: Arc<Pipeline<S>>,
    workers: Workers,
}

/// What is left once a server has stopped: the engine, for its store to be closed.
pub struct Stopped<S>(pub Option<Pipeline<S>>);

impl<S: Store> Server<S> {
    pub async fn bind(options: Listen<'_>, pipeline: Pipeline<S>) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind((options.host, options.port)).await?;
        pipeline.engine.set_endpoint(listener.local_addr()?.to_string());
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let workers = Workers::start(options.threads.unwrap_or_else(cores))?;
        Ok(Server { listener, tls: options.tls, pipeline: Arc::new(pipeline), workers })
    }

    /// Where clients find it: `http://127.0.0.1:8000`.
    pub fn endpoint(&self) -> std::io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// Serves until `stop` resolves; requests under way are finished first.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Stopped<S> {
        let stopping = Stopping::new();
        let background = Housekeeping::start(&self.pipeline);
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let (pipeline, tls) = (Arc::clone(&self.pipeline), self.tls.clone());
                        match stream.into_std() {
                            Ok(stream) => self.workers.serve(serve(stream, tls, pipeline, stopping.watcher())),
                            Err(error) => tracing::debug!(%error, "a connection ended at once"),
                        }
                    }
                    Err(error) => {
                        // Out of file descriptors, most likely: let some connections end.
                        tracing::warn!(%error, "could not accept a connection");
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                },
                () = &mut stop => break,
            }
        }
        drop(self.listener);
        background.stop().await;
        if tokio::time::timeout(GRACE, stopping.all_ended()).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
        self.workers.stop();
        Stopped(Arc::into_inner(self.pipeline))
    }
}

/// Serves one connection until it ends.
async fn serve<S: Store>(
    stream: std::net::TcpStream,
    tls: Option<TlsAcceptor>,
    pipeline: Arc<Pipeline<S>>,
    stop: Stop,
) {
    // It belongs to the runtime of the thread that serves it.
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => return tracing::warn!(%error, "a connection could not be served"),
    };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    let stream = Lingering::new(stream);
    let Some(tls) = tls else { return talk(stream, pipeline, stop).await };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => talk(stream, pipeline, stop).await,
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
}

async fn talk<S: Store>(
    mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    pipeline: Arc<Pipeline<S>>,
    stop: Stop,
) {
    let ended = match fast_lane::serve(&mut stream, &pipeline, stop.clone()).await {
        Ok(Left::Ended) => stream.shutdown().await,
        Ok(Left::Unusual(read)) => return talk_at_length(Prefixed::new(read, stream), pipeline, stop).await,
        Err(error) => Err(error),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// All of HTTP/1, by hyper.
async fn talk_at_length<S: Store>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    pipeline: Arc<Pipeline<S>>,
    mut stop: Stop,
) {
    let service = service_fn(move |request| {
        let pipeline = Arc::clone(&pipeline);
        async move { Ok::<_, Infallible>(pipeline.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.wanted() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
