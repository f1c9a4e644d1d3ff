//! Runs the workloads, each on Partita and on the bare server, and reports.

use crate::RunArguments;
use crate::connection::Connection;
use crate::load::{Intensity, Measured, fire};
use crate::process::Process;
use crate::report::{Line, Report};
use crate::workload::{Caller, Kind, WORKLOADS, Workload, create_table, item};
use partita_auth::Credential;
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

const CONNECTIONS: [usize; 2] = [1, 32];

pub fn run(arguments: &RunArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let sync_rate = crate::disk::sync_rate(folder.path(), Duration::from_secs(1))?;
    let mut report = Report::new(sync_rate, arguments.items);
    let servers = Servers::start(&arguments.binary, folder.path(), arguments.items)?;
    report.started(servers.full.started_in, servers.idle_bytes);
    let bench = std::env::current_exe()?;
    let wanted =
        |workload: &&Workload| arguments.only.as_ref().is_none_or(|part| workload.name.contains(part));
    for workload in WORKLOADS.iter().filter(wanted) {
        for connections in CONNECTIONS {
            let line = measure(&servers, &bench, workload, connections, arguments)?;
            println!("{line}");
            report.add(line);
        }
    }
    report.resident(servers.full.private_bytes());
    if let Some(path) = &arguments.write {
        std::fs::write(path, report.to_markdown())?;
        println!("written to {}", path.display());
    }
    Ok(())
}

/// The same binary three times: durable, relaxed, and verifying signatures.
struct Servers {
    full: Process,
    relaxed: Process,
    verified: Process,
    idle_bytes: u64,
}

impl Servers {
    fn start(binary: &Path, folder: &Path, items: u64) -> Result<Servers, Box<dyn Error>> {
        let start = |name: &str, more: &[&str]| {
            let data = folder.join(name);
            let data = data.to_str().ok_or("a folder's name is no text")?;
            Process::start(binary, &[&["serve", "--port", "0", "--data", data], more].concat())
        };
        let full = start("full", &[])?;
        std::thread::sleep(Duration::from_millis(200));
        let idle_bytes = full.private_bytes();
        let relaxed = start("relaxed", &["--durability", "relaxed"])?;
        let verified = start("verified", &["--access-key", "bench", "--secret-key", "bench"])?;
        for server in [&full, &relaxed, &verified] {
            load(server, items)?;
        }
        Ok(Servers { full, relaxed, verified, idle_bytes })
    }
}

pub fn caller(server: &Process) -> Caller {
    Caller::new(&server.address, Credential::new("bench", "bench"))
}

/// Creates the table and fills it.
fn load(server: &Process, items: u64) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let caller = caller(server);
        let mut connection = Connection::open(&server.address).await?;
        expect_success(&mut connection, &caller, "CreateTable", &create_table()).await?;
        for first in (0..items).step_by(25) {
            let puts =
                (first..items.min(first + 25)).map(|i| json!({"PutRequest": {"Item": item(i, "", true)}}));
            let body = json!({"RequestItems": {crate::workload::TABLE: puts.collect::<Vec<_>>()}});
            expect_success(&mut connection, &caller, "BatchWriteItem", &body).await?;
        }
        Ok(())
    })
}

pub async fn expect_success(
    connection: &mut Connection,
    caller: &Caller,
    operation: &str,
    body: &Value,
) -> Result<(), Box<dyn Error>> {
    let answer = connection.ask(&caller.request(operation, body)).await?;
    if answer.status == 200 {
        return Ok(());
    }
    Err(format!("{operation} was answered {}: {}", answer.status, String::from_utf8_lossy(&answer.body))
        .into())
}

/// One line of the table: each server in turn, with requests of its own.
fn measure(
    servers: &Servers,
    bench: &Path,
    workload: &Workload,
    connections: usize,
    arguments: &RunArguments,
) -> Result<Line, Box<dyn Error>> {
    let fire_with = |server: &Process, rate| -> Result<Measured, Box<dyn Error>> {
        let requests = workload.requests(&caller(server), arguments.items, connections as u64 % 7);
        Ok(fire(&server.address, &requests, Intensity { connections, duration: arguments.duration(), rate })?)
    };
    let fire_at = |server: &Process| fire_with(server, None);
    let full = fire_at(&servers.full)?;
    let reads = workload.kind == Kind::Read;
    let half = if reads { Some(fire_with(&servers.full, Some(full.rate / 2.0))?) } else { None };
    let bare_server = Process::start(bench, &["bare", "--bytes", &full.body_bytes.to_string()])?;
    let bare = fire_at(&bare_server)?;
    let relaxed = if reads { None } else { Some(fire_at(&servers.relaxed)?) };
    let verified = fire_at(&servers.verified)?;
    Ok(Line { workload: workload.name, connections, full, half, bare, relaxed, verified })
}
