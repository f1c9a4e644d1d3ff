//! Measures the throughput that remains under overload.
//!
//! Requests are due at a steady rate, independent of earlier responses (an open loop). A request is lost if no connection
//! is free when it is due; a response counts if it is successful and arrives within a second. Load generator and server
//! have one core each. The peak is the throughput over the same number of connections without pauses.

use crate::OverloadArguments;
use crate::benchmark::ratios::{fill_table, request_builder};
use crate::client::connection::Connection;
use crate::client::load::{LoadOptions, generate_load};
use crate::client::workload::{WORKLOADS, Workload};
use crate::server::process::Process;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::cell::RefCell;
use std::error::Error;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Responses that arrive later do not count.
const DEADLINE: Duration = Duration::from_secs(1);
/// How often due requests are sent.
const TICK: Duration = Duration::from_millis(1);
/// Offered load as multiples of the peak.
const OFFERED: [f64; 5] = [0.5, 1.0, 2.0, 3.0, 5.0];

pub fn run(arguments: &OverloadArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let data = folder.path().join("data");
    let data = data.to_str().ok_or("the folder name is not UTF-8")?;
    pin_to(1)?;
    let server =
        Process::start(&arguments.binary, &["serve", "--port", "0", "--threads", "1", "--data", data])?;
    pin_to(0)?;
    fill_table(&server, None, arguments.items)?;
    println!(
        "| workload | offered /s | useful responses /s | of the peak | lost | late or failed | p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in &arguments.workloads {
        let workload =
            WORKLOADS.iter().find(|it| it.name == name).ok_or_else(|| format!("unknown workload {name}"))?;
        measure(&server, workload, arguments)?;
    }
    Ok(())
}

/// Pins this process, and those it starts from now on, to one core.
fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

fn measure(
    server: &Process,
    workload: &Workload,
    arguments: &OverloadArguments,
) -> Result<(), Box<dyn Error>> {
    let duration = Duration::from_secs_f64(arguments.seconds);
    let requests = |pass| workload.requests(&request_builder(server), arguments.items, pass);
    let options = LoadOptions { connections: arguments.connections, duration, rate: None };
    let peak = generate_load(&server.address, None, &requests(1), options)?.rate;
    println!("| {} | closed loop | {peak:.0} | 100 % | | | | |", workload.name);
    for (pass, times) in OFFERED.into_iter().enumerate() {
        let offered = peak * times;
        let outcomes =
            offer(&server.address, &requests(pass as u64 + 2), arguments.connections, offered, duration)?;
        let useful = outcomes.useful.len() as f64 / arguments.seconds;
        println!(
            "| {} | {offered:.0} | {useful:.0} | {:.0} % | {} | {} | {:.1?} | {:.1?} |",
            workload.name,
            100.0 * useful / peak,
            outcomes.lost,
            outcomes.useless,
            outcomes.quantile(0.5),
            outcomes.quantile(0.99)
        );
    }
    Ok(())
}

/// The outcome of the requests.
#[derive(Default)]
struct Outcomes {
    /// The latencies of useful responses.
    useful: Vec<Duration>,
    /// Late or failed responses, and closed connections.
    useless: usize,
    /// Requests for which no connection was free.
    lost: usize,
}

impl Outcomes {
    fn quantile(&self, part: f64) -> Duration {
        let mut sorted = self.useful.clone();
        sorted.sort_unstable();
        sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or_default()
    }
}

fn offer(
    address: &str,
    requests: &Rc<Vec<Vec<u8>>>,
    connections: usize,
    rate: f64,
    duration: Duration,
) -> io::Result<Outcomes> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let outcomes = Rc::new(RefCell::new(Outcomes::default()));
        let (free, mut free_connections) = mpsc::unbounded_channel();
        let mut senders = Vec::new();
        for number in 0..connections {
            let (sender, assignments) = mpsc::unbounded_channel();
            let connection = Connection::open(address, None).await?;
            senders.push(sender);
            let _ = free.send(number);
            let (requests, outcomes, free) = (Rc::clone(requests), Rc::clone(&outcomes), free.clone());
            tokio::task::spawn_local(serve_connection(
                connection,
                assignments,
                requests,
                outcomes,
                move || {
                    let _ = free.send(number);
                },
            ));
        }
        let start = Instant::now();
        let mut issued = 0;
        while start.elapsed() < duration {
            let due = (start.elapsed().as_secs_f64() * rate) as usize;
            while issued < due {
                let Ok(number) = free_connections.try_recv() else {
                    outcomes.borrow_mut().lost += due - issued;
                    issued = due;
                    break;
                };
                let _ = senders[number].send((issued, start + Duration::from_secs_f64(issued as f64 / rate)));
                issued += 1;
            }
            tokio::time::sleep(TICK).await;
        }
        drop(senders);
        // Responses that are still outstanding after this are late.
        tokio::time::sleep(DEADLINE).await;
        Ok(outcomes.take())
    })
}

/// Sends the requests assigned to one connection and reports when it is free again.
async fn serve_connection(
    mut connection: Connection,
    mut assignments: mpsc::UnboundedReceiver<(usize, Instant)>,
    requests: Rc<Vec<Vec<u8>>>,
    outcomes: Rc<RefCell<Outcomes>>,
    on_free: impl Fn(),
) {
    while let Some((number, due)) = assignments.recv().await {
        let response = connection.send(&requests[number % requests.len()]).await;
        let latency = due.elapsed();
        match response {
            Ok((200, _)) if latency <= DEADLINE => outcomes.borrow_mut().useful.push(latency),
            Ok(_) => outcomes.borrow_mut().useless += 1,
            Err(_) => {
                outcomes.borrow_mut().useless += 1;
                return;
            }
        }
        on_free();
    }
}
