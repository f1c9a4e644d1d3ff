//! Fires requests over several connections for a while and measures.

use crate::connection::Connection;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio_rustls::TlsConnector;

/// What a run of requests showed.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub rate: f64,
    pub p50: Duration,
    pub p99: Duration,
    pub max: Duration,
    /// Answers that were no success.
    pub refused: usize,
    /// Bytes of a typical answer's body.
    pub body_bytes: usize,
}

/// How much is sent, over how many connections, for how long.
#[derive(Clone, Copy)]
pub struct Intensity {
    pub connections: usize,
    pub duration: Duration,
    /// Requests a second, if not as many as are answered.
    pub rate: Option<f64>,
}

/// Sends `requests` round robin. One thread: the servers need the rest.
pub fn fire(
    address: &str,
    tls: Option<&TlsConnector>,
    requests: &Rc<Vec<Vec<u8>>>,
    intensity: Intensity,
) -> io::Result<Measured> {
    let Intensity { connections, duration, rate } = intensity;
    let pause = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let start = Instant::now();
        let tasks: Vec<_> = (0..connections)
            .map(|number| {
                let (address, tls, requests) = (address.to_owned(), tls.cloned(), Rc::clone(requests));
                tokio::task::spawn_local(async move {
                    let first = number * requests.len() / connections;
                    let connection = Connection::open(&address, tls.as_ref()).await?;
                    one_connection(connection, &requests, first, (start + duration, pause)).await
                })
            })
            .collect();
        let mut all = Samples::default();
        for task in tasks {
            all.add(task.await.map_err(io::Error::other)??);
        }
        Ok(all.summary(start.elapsed()))
    })
}

#[derive(Default)]
struct Samples {
    latencies: Vec<Duration>,
    sizes: Vec<usize>,
    refused: usize,
}

/// Latency counts from the moment at which a request was due, so that a stall is not hidden by waiting for it.
async fn one_connection(
    mut connection: Connection,
    requests: &[Vec<u8>],
    first: usize,
    (end, pause): (Instant, Option<Duration>),
) -> io::Result<Samples> {
    let mut samples = Samples::default();
    let mut due = Instant::now();
    for request in requests.iter().cycle().skip(first) {
        let sent = match pause {
            Some(pause) => {
                due += pause;
                until(due).await;
                due
            }
            None => Instant::now(),
        };
        if sent >= end {
            break;
        }
        let (status, bytes) = connection.exchange(request).await?;
        samples.latencies.push(sent.elapsed());
        samples.refused += usize::from(status != 200);
        if samples.sizes.len() < 1_000 {
            samples.sizes.push(bytes);
        }
    }
    Ok(samples)
}

/// The runtime's timers count in milliseconds, which is longer than most answers take: the rest is waited for awake.
async fn until(due: Instant) {
    const TIMER: Duration = Duration::from_millis(2);
    if let Some(early) = due.checked_sub(TIMER) {
        tokio::time::sleep_until(early.into()).await;
    }
    while Instant::now() < due {
        tokio::task::yield_now().await;
    }
}

impl Samples {
    fn add(&mut self, other: Samples) {
        self.latencies.extend(other.latencies);
        self.sizes.extend(other.sizes);
        self.refused += other.refused;
    }

    fn summary(mut self, elapsed: Duration) -> Measured {
        self.latencies.sort_unstable();
        self.sizes.sort_unstable();
        let at = |part: f64| {
            let position = (self.latencies.len() as f64 * part) as usize;
            self.latencies
                .get(position.min(self.latencies.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        Measured {
            rate: self.latencies.len() as f64 / elapsed.as_secs_f64(),
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
            refused: self.refused,
            body_bytes: self.sizes.get(self.sizes.len() / 2).copied().unwrap_or_default(),
        }
    }
}

/// What a server did in its turns at one thing.
#[derive(Default)]
pub struct Turns(pub Vec<Measured>);

impl Turns {
    /// The turn of middle speed.
    pub fn median(&self) -> Option<Measured> {
        let mut turns: Vec<&Measured> = self.0.iter().collect();
        turns.sort_unstable_by(|one, other| one.rate.total_cmp(&other.rate));
        turns.get(turns.len() / 2).map(|turn| (*turn).clone())
    }
}
