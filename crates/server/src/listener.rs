//! Accepts connections and serves each until it ends or the server is told to stop.

use crate::housekeeping;
use crate::lingering::Lingering;
use crate::pipeline::Pipeline;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use partita_store::Store;
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// How long requests under way may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long a client may take to send a request's headers, and to send the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a client may take to agree on a key.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A bound socket and what answers on it.
pub struct Server<S> {
    listener: TcpListener,
    /// Connections are encrypted, if there is one.
    tls: Option<TlsAcceptor>,
    pipeline: Arc<Pipeline<S>>,
}

/// What is left once a server has stopped: the engine, for its store to be closed.
pub struct Stopped<S>(pub Option<Pipeline<S>>);

impl<S: Store> Server<S> {
    pub async fn bind(
        host: &str,
        port: u16,
        tls: Option<TlsAcceptor>,
        pipeline: Pipeline<S>,
    ) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind((host, port)).await?;
        pipeline.engine.set_endpoint(listener.local_addr()?.to_string());
        Ok(Server { listener, tls, pipeline: Arc::new(pipeline) })
    }

    /// Where clients find it: `http://127.0.0.1:8000`.
    pub fn endpoint(&self) -> std::io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// Serves until `stop` resolves; requests under way are finished first.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Stopped<S> {
        let graceful = GracefulShutdown::new();
        let background = tokio::spawn(housekeeping::run(Arc::clone(&self.pipeline)));
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let (pipeline, tls) = (Arc::clone(&self.pipeline), self.tls.clone());
                        tokio::spawn(serve(stream, tls, pipeline, graceful.watcher()));
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
        background.abort();
        let _ = background.await;
        if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
        Stopped(Arc::into_inner(self.pipeline))
    }
}

/// Serves one connection until it ends.
async fn serve<S: Store>(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    pipeline: Arc<Pipeline<S>>,
    watcher: Watcher,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    let stream = Lingering::new(stream);
    let Some(tls) = tls else { return talk(stream, pipeline, watcher).await };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => talk(stream, pipeline, watcher).await,
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
}

async fn talk<S: Store>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    pipeline: Arc<Pipeline<S>>,
    watcher: Watcher,
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
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}
