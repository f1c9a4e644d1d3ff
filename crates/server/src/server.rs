//! Accepts connections and serves each until it ends or the server is told to stop.
//!
//! The thread that accepts does nothing else but answer who asks how the server is (`lobby.rs`), so that neither requests nor
//! background work keep it from either. With those who encrypt their connections another thread does that.

use crate::background_tasks::Housekeeping;
use crate::clock;
use crate::connection::health_probe;
use crate::connection::lingering_close::Lingering;
use crate::connection::prefixed_stream::Prefixed;
use crate::connection::shutdown::{Stay, Stopping};
use crate::connection::spare_descriptor::SpareDescriptor;
use crate::connection::worker_threads::{Desks, Guest, Workers};
use crate::http::fast_lane::{self, Left};
use crate::http::reply::{Refusal, Reply};
use crate::limits::budget::Budget;
use crate::limits::connection_limit::{Connections, Place};
use crate::pipeline::Pipeline;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use partita_store::{Health, Store};
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long requests and background work under way may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(7);
/// How long a client may take to send a request's headers, and to send the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(120);
/// What hyper keeps of a connection: the longest head, and a piece of a body.
const HYPER_BYTES: usize = 64 * 1_024;

/// How long a client may take to agree on a key.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long those turned away are waited for, that they read why.
const TURNING_AWAY: Duration = Duration::from_millis(200);
/// … and how many of them at a time.
const TURNED_AWAY: usize = 4;

/// How often it is looked whether the store has failed for good, and for how long it must have.
const LOOK: Duration = Duration::from_secs(1);
const FAILED_FOR: Duration = Duration::from_secs(30);

/// Where and how to listen.
pub struct Listen<'a> {
    pub host: &'a str,
    pub port: u16,
    /// Connections are encrypted, if there is one.
    pub tls: Option<TlsAcceptor>,
    /// How many threads serve connections.
    pub threads: usize,
    /// How many connections there may be at a time.
    pub connections: usize,
}

/// A bound socket and what answers on it.
pub struct Server<S> {
    listener: TcpListener,
    encryption: Option<Encryption>,
    pipeline: Arc<Pipeline<S>>,
    connections: Arc<Connections>,
    workers: Workers,
    spare: SpareDescriptor,
    /// Who may be told at a time why there is no place.
    turning_away: Arc<Semaphore>,
}

/// What encrypted connections need.
struct Encryption {
    acceptor: TlsAcceptor,
    /// Agrees on keys.
    lobby: Workers,
}

/// What is left once a server has stopped.
pub struct Stopped<S> {
    /// The engine, for its store to be closed; none if something still uses it.
    pub pipeline: Option<Pipeline<S>>,
    /// Why it stopped, if it was not told to: what the store says.
    pub failure: Option<String>,
}

impl<S: Store> Server<S> {
    pub async fn bind(options: Listen<'_>, pipeline: Pipeline<S>) -> std::io::Result<Server<S>> {
        let listener = TcpListener::bind((options.host, options.port)).await?;
        pipeline.engine.set_endpoint(listener.local_addr()?.to_string());
        let workers = Workers::start("worker", options.threads)?;
        let encrypt = |acceptor| Workers::start("lobby", 1).map(|lobby| Encryption { acceptor, lobby });
        let encryption = options.tls.map(encrypt).transpose()?;
        let connections = Connections::new(options.connections, pipeline.budget);
        Ok(Server {
            listener,
            encryption,
            pipeline: Arc::new(pipeline),
            connections,
            workers,
            spare: SpareDescriptor::keep(),
            turning_away: Arc::new(Semaphore::new(TURNED_AWAY)),
        })
    }

    /// Where clients find it: `http://127.0.0.1:8000`.
    pub fn endpoint(&self) -> std::io::Result<String> {
        let scheme = if self.encryption.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// Serves until `stop` resolves, or the store has failed for good; requests under way are finished first.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> std::io::Result<Stopped<S>> {
        let stopping = Stopping::new();
        let background = Housekeeping::start(&self.pipeline)?;
        let failure = self.accept_until(stop, &stopping).await;
        drop(self.listener);
        let all_ended = async { tokio::join!(background.stop(), stopping.all_ended()) };
        if tokio::time::timeout(GRACE, all_ended).await.is_err() {
            tracing::warn!("some requests or background work did not finish in time");
        }
        if let Some(encryption) = self.encryption {
            encryption.lobby.stop();
        }
        self.workers.stop();
        Ok(Stopped { pipeline: Arc::into_inner(self.pipeline), failure })
    }

    /// Accepts connections; returns what the store says if that is why it ended.
    async fn accept_until(&mut self, stop: impl Future<Output = ()>, stopping: &Stopping) -> Option<String> {
        let pipeline = Arc::clone(&self.pipeline);
        let mut failing = pin!(failure(&pipeline));
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => self.welcome(stream, stopping).await,
                    Err(error) => self.could_not_accept(&error).await,
                },
                () = &mut stop => return None,
                failure = &mut failing => return Some(failure),
            }
        }
    }

    /// Finds a connection its place, or turns it away.
    async fn welcome(&self, stream: TcpStream, stopping: &Stopping) {
        let Some(place) = self.connections.place().await else {
            self.pipeline.budget.note_turned_away();
            // Without encryption it can be told why, as long as not too many are.
            if let (None, Ok(permit)) = (&self.encryption, Arc::clone(&self.turning_away).try_acquire_owned())
            {
                tokio::spawn(turn_away(stream, self.pipeline.budget, permit));
            }
            return;
        };
        let visit = Visit { pipeline: Arc::clone(&self.pipeline), stay: stopping.watcher().stay(place) };
        let desks = self.workers.desks();
        let Some(Encryption { acceptor, lobby }) = &self.encryption else {
            tokio::spawn(visit.begin(stream, desks));
            return;
        };
        // To agree on a key takes long enough that it is not done here.
        if let Some(stream) = on_its_own(stream) {
            lobby.desks().serve(|guest| visit.agree(stream, acceptor.clone(), desks, guest));
        }
    }

    /// Out of file descriptors, most likely: one who waits is told so by being hung up on, and one who is idle must go.
    async fn could_not_accept(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "could not accept a connection");
        self.pipeline.budget.note_turned_away();
        self.connections.tell_one_to_leave();
        self.spare.lend();
        let _ = tokio::time::timeout(Duration::from_millis(20), self.listener.accept()).await;
        self.spare.take_back();
    }
}

/// Resolves with what the store says, once it has failed for so long that it does not recover by itself.
async fn failure<S: Store>(pipeline: &Pipeline<S>) -> String {
    let mut since: Option<Instant> = None;
    loop {
        tokio::time::sleep(LOOK).await;
        match pipeline.engine.health() {
            Health::Failed(text) if since.is_some_and(|since| since.elapsed() >= FAILED_FOR) => return text,
            Health::Failed(_) => since = since.or_else(|| Some(clock::monotonic_now())),
            Health::Ok | Health::Full(_) | Health::ReadOnly(_) => since = None,
        }
    }
}

/// Tells a client that there is no place for it.
async fn turn_away(mut stream: TcpStream, budget: &'static Budget, _permit: OwnedSemaphorePermit) {
    let refusal = Reply::last(Refusal::NoRoom, budget.share()).into_http1();
    let told = async {
        // What it has sent is taken first: to close with unread bytes takes back the answer.
        stream.readable().await?;
        let _ = stream.try_read(&mut [0; 8 * 1_024]);
        stream.write_all(refusal.as_ref()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(TURNING_AWAY, told).await;
}

/// A connection that belongs to no thread.
fn on_its_own(stream: TcpStream) -> Option<std::net::TcpStream> {
    let stream = stream.into_std();
    stream.inspect_err(|error| tracing::debug!(%error, "a connection ended at once")).ok()
}

/// A connection and all it needs.
struct Visit<S> {
    pipeline: Arc<Pipeline<S>>,
    stay: Stay,
}

impl<S: Store> Visit<S> {
    async fn begin(mut self, stream: TcpStream, desks: Desks) {
        let stream = health_probe::receive(stream, &self.pipeline, &mut self.stay).await;
        if let Some(stream) = stream.and_then(on_its_own) {
            desks.serve(|guest| self.serve(stream, guest));
        }
    }

    /// Serves the connection until it ends.
    async fn serve(self, stream: std::net::TcpStream, guest: Guest) {
        guest.sits_down();
        match self.settled(stream) {
            Ok(stream) => self.talk(stream).await,
            Err(error) => tracing::warn!(%error, "a connection could not be served"),
        }
    }

    /// The connection as one of the thread that serves it.
    fn settled(&self, stream: std::net::TcpStream) -> std::io::Result<Lingering> {
        let stream = TcpStream::from_std(stream)?;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
        Ok(Lingering::new(stream, self.pipeline.pace()))
    }

    /// Agrees on a key and hears the first words, at a thread for nothing else; goes on at one that serves requests.
    async fn agree(mut self, stream: std::net::TcpStream, tls: TlsAcceptor, desks: Desks, _guest: Guest) {
        let stream = match self.settled(stream) {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "a connection could not be served"),
        };
        let agreed = tokio::select! {
            agreed = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)) => agreed,
            () = self.stay.is_over() => return,
        };
        let mut stream = match agreed {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!(%error, "a handshake failed"),
            Err(_) => return tracing::debug!("a handshake took too long"),
        };
        if let Some(words) =
            health_probe::receive_encrypted(&mut stream, &self.pipeline, &mut self.stay).await
        {
            desks.serve(|guest| self.serve_encrypted(words, stream, guest));
        }
    }

    /// Serves an encrypted connection whose first words were heard.
    async fn serve_encrypted(self, words: Vec<u8>, mut stream: TlsStream<Lingering>, guest: Guest) {
        guest.sits_down();
        match stream.get_mut().0.settle_here() {
            Ok(()) => self.talk(Prefixed::new(words, stream)).await,
            Err(error) => tracing::warn!(%error, "a connection could not be served"),
        }
    }

    async fn talk(mut self, mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let ended = match fast_lane::serve(&mut stream, &self.pipeline, &mut self.stay).await {
            Ok(Left::Ended) => stream.shutdown().await,
            Ok(Left::Unusual(read)) => return self.talk_at_length(Prefixed::new(read, stream)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    /// All of HTTP/1, by hyper.
    async fn talk_at_length(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let (pipeline, place) = (self.pipeline, Arc::clone(&self.stay.place));
        let service = service_fn(move |request| {
            let (pipeline, place) = (Arc::clone(&pipeline), Arc::clone(&place));
            async move { Ok::<_, Infallible>(answer(&pipeline, &place, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(HYPER_BYTES)
            .half_close(true)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stay.is_over() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

async fn answer<S: Store>(
    pipeline: &Pipeline<S>,
    place: &Place,
    request: hyper::Request<hyper::body::Incoming>,
) -> hyper::Response<http_body_util::Full<bytes::Bytes>> {
    place.heard(clock::monotonic_now());
    place.begins();
    // Whoever knows no key may ask for the server's health too, but that is no POST.
    let is_operation = request.method() == hyper::Method::POST;
    let response = pipeline.answer(request).await;
    place.ends(is_operation && response.status() == hyper::StatusCode::OK);
    response
}
