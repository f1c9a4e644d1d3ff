//! What is left of the speed when more is asked than can be answered.
//!
//! Requests are due at a steady rate, whatever was answered of the former ones (an open loop). Each needs a free connection at that
//! moment, or is lost; an answer counts if it is a success and comes within a second. Generator and server have a core each. The
//! peak is what is answered over as many connections without pauses.

use crate::OverloadArguments;
use crate::connection::Connection;
use crate::load::{Intensity, fire};
use crate::process::Process;
use crate::run::{caller, load};
use crate::workload::{WORKLOADS, Workload};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::cell::RefCell;
use std::error::Error;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// An answer that comes later is of no use.
const USEFUL: Duration = Duration::from_secs(1);
/// How often it is looked what is due.
const TICK: Duration = Duration::from_millis(1);
/// Offered load, in peaks.
const OFFERED: [f64; 5] = [0.5, 1.0, 2.0, 3.0, 5.0];

pub fn run(arguments: &OverloadArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let data = folder.path().join("data");
    let data = data.to_str().ok_or("a folder's name is no text")?;
    keep_to(1)?;
    let server =
        Process::start(&arguments.binary, &["serve", "--port", "0", "--threads", "1", "--data", data])?;
    keep_to(0)?;
    load(&server, None, arguments.items)?;
    println!(
        "| workload | offered a second | useful answers a second | of the peak | lost | late or refused | p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in &arguments.workloads {
        let workload =
            WORKLOADS.iter().find(|it| it.name == name).ok_or_else(|| format!("no workload {name}"))?;
        measure(&server, workload, arguments)?;
    }
    Ok(())
}

/// Runs this process, and those it starts from now on, on one core.
fn keep_to(core: usize) -> io::Result<()> {
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
    let requests = |pass| workload.requests(&caller(server), arguments.items, pass);
    let intensity = Intensity { connections: arguments.connections, duration, rate: None };
    let peak = fire(&server.address, None, &requests(1), intensity)?.rate;
    println!("| {} | as many as are answered | {peak:.0} | 100 % | | | | |", workload.name);
    for (pass, times) in OFFERED.into_iter().enumerate() {
        let offered = peak * times;
        let seen =
            offer(&server.address, &requests(pass as u64 + 2), arguments.connections, offered, duration)?;
        let useful = seen.useful.len() as f64 / arguments.seconds;
        println!(
            "| {} | {offered:.0} | {useful:.0} | {:.0} % | {} | {} | {:.1?} | {:.1?} |",
            workload.name,
            100.0 * useful / peak,
            seen.lost,
            seen.useless,
            seen.at(0.5),
            seen.at(0.99)
        );
    }
    Ok(())
}

/// What became of the requests.
#[derive(Default)]
struct Seen {
    /// How long the useful answers took.
    useful: Vec<Duration>,
    /// Answers that were late or no success, and connections that ended.
    useless: usize,
    /// Requests for which no connection was free.
    lost: usize,
}

impl Seen {
    fn at(&self, part: f64) -> Duration {
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
) -> io::Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let (free, mut frees) = mpsc::unbounded_channel();
        let mut senders = Vec::new();
        for number in 0..connections {
            let (sender, orders) = mpsc::unbounded_channel();
            let connection = Connection::open(address, None).await?;
            senders.push(sender);
            let _ = free.send(number);
            let (requests, seen, free) = (Rc::clone(requests), Rc::clone(&seen), free.clone());
            tokio::task::spawn_local(serve_orders(connection, orders, requests, seen, move || {
                let _ = free.send(number);
            }));
        }
        let start = Instant::now();
        let mut issued = 0;
        while start.elapsed() < duration {
            let due = (start.elapsed().as_secs_f64() * rate) as usize;
            while issued < due {
                let Ok(number) = frees.try_recv() else {
                    seen.borrow_mut().lost += due - issued;
                    issued = due;
                    break;
                };
                let _ = senders[number].send((issued, start + Duration::from_secs_f64(issued as f64 / rate)));
                issued += 1;
            }
            tokio::time::sleep(TICK).await;
        }
        drop(senders);
        // What is under way is of no use later than this.
        tokio::time::sleep(USEFUL).await;
        Ok(seen.take())
    })
}

/// One connection: sends what it is ordered to, and says when it is free again.
async fn serve_orders(
    mut connection: Connection,
    mut orders: mpsc::UnboundedReceiver<(usize, Instant)>,
    requests: Rc<Vec<Vec<u8>>>,
    seen: Rc<RefCell<Seen>>,
    is_free: impl Fn(),
) {
    while let Some((number, due)) = orders.recv().await {
        let answered = connection.exchange(&requests[number % requests.len()]).await;
        let took = due.elapsed();
        match answered {
            Ok((200, _)) if took <= USEFUL => seen.borrow_mut().useful.push(took),
            Ok(_) => seen.borrow_mut().useless += 1,
            Err(_) => {
                seen.borrow_mut().useless += 1;
                return;
            }
        }
        is_free();
    }
}
