//! Generates load over several connections and measures throughput and latency.

use crate::client::connection::Connection;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio_rustls::TlsConnector;

/// The result of one round of load.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    pub rate: f64,
    pub p50: Duration,
    pub p99: Duration,
    pub max: Duration,
    /// Responses with a status other than 200.
    pub failed: usize,
    /// Median length of a response body.
    pub body_bytes: usize,
}

/// The amount of load.
#[derive(Clone, Copy)]
pub struct LoadOptions {
    pub connections: usize,
    pub duration: Duration,
    /// Requests per second; `None` is as many as possible.
    pub rate: Option<f64>,
}

/// Sends `requests` round robin from one thread, which leaves the other cores to the servers.
pub fn generate_load(
    address: &str,
    tls: Option<&TlsConnector>,
    requests: &Rc<Vec<Vec<u8>>>,
    options: LoadOptions,
) -> io::Result<Measurement> {
    let LoadOptions { connections, duration, rate } = options;
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
                    send_requests(connection, &requests, first, (start + duration, pause)).await
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
    failed: usize,
}

/// Sends requests on one connection. Latency is measured from the time at which a request was due, so that waiting
/// does not hide a stall (coordinated omission).
async fn send_requests(
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
                wait_until(due).await;
                due
            }
            None => Instant::now(),
        };
        if sent >= end {
            break;
        }
        let (status, bytes) = connection.send(request).await?;
        samples.latencies.push(sent.elapsed());
        samples.failed += usize::from(status != 200);
        if samples.sizes.len() < 1_000 {
            samples.sizes.push(bytes);
        }
    }
    Ok(samples)
}

/// Sleeps, then spins for the last milliseconds: the runtime's timers have a resolution of a millisecond, which is longer
/// than most responses take.
async fn wait_until(due: Instant) {
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
        self.failed += other.failed;
    }

    fn summary(mut self, elapsed: Duration) -> Measurement {
        self.latencies.sort_unstable();
        self.sizes.sort_unstable();
        let at = |part: f64| {
            let position = (self.latencies.len() as f64 * part) as usize;
            self.latencies
                .get(position.min(self.latencies.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        Measurement {
            rate: self.latencies.len() as f64 / elapsed.as_secs_f64(),
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
            failed: self.failed,
            body_bytes: self.sizes.get(self.sizes.len() / 2).copied().unwrap_or_default(),
        }
    }
}

/// The rounds of one server at one workload.
#[derive(Default)]
pub struct Rounds(pub Vec<Measurement>);

impl Rounds {
    /// Returns the round with the median rate.
    pub fn median(&self) -> Option<Measurement> {
        let mut rounds: Vec<&Measurement> = self.0.iter().collect();
        rounds.sort_unstable_by(|one, other| one.rate.total_cmp(&other.rate));
        rounds.get(rounds.len() / 2).map(|round| (*round).clone())
    }
}
