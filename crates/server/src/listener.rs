//! Accepts connections and serves each until it ends or the server is told to stop.

use crate::housekeeping;
use crate::lingering::Lingering;
use crate::pipeline::Pipeline;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use partita_store::Store;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How long requests under way may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long a client may take to send a request's headers, and to send the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);

/// A bound socket and what answers on it.
pub struct Server<S> {
    listener: TcpListener,
    pipeline: Arc<Pipeline<S>>,
}

/// What is left once a server has stopped: the engine, for its store to be closed.
pub struct Stopped<S>(pub Option<Pipeline<S>>);

impl<S: Store> Server<S> {
    pub async fn bind(host: &str, port: u16, pipeline: Pipeline<S>) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind((host, port)).await?;
        pipeline.engine.set_endpoint(listener.local_addr()?.to_string());
        Ok(Server { listener, pipeline: Arc::new(pipeline) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` resolves; requests under way are finished first.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Stopped<S> {
        let graceful = GracefulShutdown::new();
        let background = tokio::spawn(housekeeping::run(Arc::clone(&self.pipeline)));
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => serve(stream, Arc::clone(&self.pipeline), &graceful),
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

fn serve<S: Store>(stream: TcpStream, pipeline: Arc<Pipeline<S>>, graceful: &GracefulShutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    let service = service_fn(move |request| {
        let pipeline = Arc::clone(&pipeline);
        async move { Ok::<_, Infallible>(pipeline.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .half_close(true)
        .serve_connection(TokioIo::new(Lingering::new(stream)), service);
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended early");
        }
    });
}
