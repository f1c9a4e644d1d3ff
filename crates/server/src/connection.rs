//! One client connection: how it is assigned to a thread, served and closed.

pub(crate) mod busy_poll;
pub(crate) mod health_probe;
pub(crate) mod lingering_close;
pub(crate) mod prefixed_stream;
pub(crate) mod shutdown;
pub(crate) mod spare_descriptor;
pub(crate) mod thread_yield;
pub mod tls;
pub(crate) mod worker_threads;

use crate::clock;
use crate::http::fast_lane::{self, LaneExit};
use crate::limits::connection_limit::ConnectionSlot;
use crate::pipeline::Pipeline;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lingering_close::LingeringStream;
use partita_store::Store;
use prefixed_stream::PrefixedStream;
use shutdown::CloseSignal;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use worker_threads::{ConnectionGuard, Dispatcher};

/// How long a client may take to send a request's headers, and to send the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);
/// How much hyper buffers of a connection: the longest head, and a piece of a body.
const HYPER_BUFFER_BYTES: usize = 64 * 1_024;
const TLS_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection's way through the threads, from its first bytes until it ends.
pub(crate) struct ConnectionHandler<S> {
    pub pipeline: Arc<Pipeline<S>>,
    pub close: CloseSignal,
}

impl<S: Store> ConnectionHandler<S> {
    /// Answers a probe, or passes the connection on to a worker thread.
    pub async fn start(mut self, stream: TcpStream, workers: Dispatcher) {
        let stream = health_probe::intercept(stream, &self.pipeline, &mut self.close).await;
        if let Some(stream) = stream.and_then(detach) {
            workers.spawn(|guard| self.serve(stream, guard));
        }
    }

    /// Serves the connection on the current thread until it ends.
    async fn serve(self, stream: std::net::TcpStream, guard: ConnectionGuard) {
        guard.allow_blocking_if_alone();
        match self.attach(stream) {
            Ok(stream) => self.serve_fast_lane(stream).await,
            Err(error) => tracing::warn!(%error, "a connection could not be served"),
        }
    }

    /// Registers the socket with the current thread's runtime.
    fn attach(&self, stream: std::net::TcpStream) -> std::io::Result<LingeringStream> {
        let stream = TcpStream::from_std(stream)?;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
        Ok(LingeringStream::new(stream, self.pipeline.slow_client_timeout()))
    }

    /// Accepts TLS and waits for the first bytes, on a thread for nothing else; passes the connection on to a worker thread.
    pub async fn accept_tls(
        mut self,
        stream: std::net::TcpStream,
        tls: TlsAcceptor,
        workers: Dispatcher,
        _guard: ConnectionGuard,
    ) {
        let stream = match self.attach(stream) {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "a connection could not be served"),
        };
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(TLS_HANDSHAKE_TIMEOUT, tls.accept(stream)) => accepted,
            () = self.close.received() => return,
        };
        let mut stream = match accepted {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => return tracing::debug!("a TLS handshake timed out"),
        };
        let first_bytes =
            health_probe::intercept_encrypted(&mut stream, &self.pipeline, &mut self.close).await;
        if let Some(first_bytes) = first_bytes {
            workers.spawn(|guard| self.serve_encrypted(first_bytes, stream, guard));
        }
    }

    /// Serves an encrypted connection whose first bytes were read already.
    async fn serve_encrypted(
        self,
        first_bytes: Vec<u8>,
        mut stream: TlsStream<LingeringStream>,
        guard: ConnectionGuard,
    ) {
        guard.allow_blocking_if_alone();
        match stream.get_mut().0.move_to_current_runtime() {
            Ok(()) => self.serve_fast_lane(PrefixedStream::new(first_bytes, stream)).await,
            Err(error) => tracing::warn!(%error, "a connection could not be served"),
        }
    }

    async fn serve_fast_lane(mut self, mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let ended = match fast_lane::serve(&mut stream, &self.pipeline, &mut self.close).await {
            Ok(LaneExit::Ended) => stream.shutdown().await,
            Ok(LaneExit::Unusual(read)) => return self.serve_hyper(PrefixedStream::new(read, stream)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    /// All of HTTP/1, with hyper.
    async fn serve_hyper(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let (pipeline, slot) = (self.pipeline, Arc::clone(&self.close.slot));
        let service = service_fn(move |request| {
            let (pipeline, slot) = (Arc::clone(&pipeline), Arc::clone(&slot));
            async move { Ok::<_, Infallible>(handle(&pipeline, &slot, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(HYPER_BUFFER_BYTES)
            .half_close(true)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.close.received() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// Handles one request of hyper's.
async fn handle<S: Store>(
    pipeline: &Pipeline<S>,
    slot: &ConnectionSlot,
    request: hyper::Request<hyper::body::Incoming>,
) -> hyper::Response<http_body_util::Full<bytes::Bytes>> {
    slot.record_activity(clock::monotonic_now());
    slot.request_started();
    // Clients without credentials may send probes too, but a probe is no POST.
    let is_operation = request.method() == hyper::Method::POST;
    let response = pipeline.handle(request).await;
    slot.request_finished(is_operation && response.status() == hyper::StatusCode::OK);
    response
}

/// Deregisters a socket from the current thread's runtime.
pub(crate) fn detach(stream: TcpStream) -> Option<std::net::TcpStream> {
    let stream = stream.into_std();
    stream.inspect_err(|error| tracing::debug!(%error, "a connection ended immediately")).ok()
}
