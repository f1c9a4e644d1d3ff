//! Runs the workloads, each on Partita and on the bare server, and reports.

use crate::RunArguments;
use crate::certificate::Certificate;
use crate::connection::Connection;
use crate::load::{Intensity, Measured, Turns, fire};
use crate::process::Process;
use crate::report::{Line, Report};
use crate::workload::{Caller, Kind, WORKLOADS, Workload, batch_text, create_table};
use partita_auth::Credential;
use std::cell::Cell;
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio_rustls::TlsConnector;

const CONNECTIONS: [usize; 2] = [1, 32];
/// Each server's turns at a workload; the turn of middle speed counts.
const ROUNDS: usize = 3;

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

/// The same binary four times: durable, relaxed, verifying signatures, and encrypting.
struct Servers {
    full: Process,
    relaxed: Process,
    verified: Process,
    encrypted: Process,
    certificate: Certificate,
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
        let file = |path: &Path| path.to_str().map(str::to_owned).ok_or("a file's name is no text");
        let secret = folder.join("secret");
        std::fs::write(&secret, "bench")?;
        let verified = start("verified", &["--access-key", "bench", "--secret-key-file", &file(&secret)?])?;
        let certificate = Certificate::make(folder)?;
        let files = (file(&certificate.chain)?, file(&certificate.key)?);
        let encrypted = start("encrypted", &["--tls-cert", &files.0, "--tls-key", &files.1])?;
        for (server, tls) in
            [(&full, None), (&relaxed, None), (&verified, None), (&encrypted, Some(&certificate.client))]
        {
            load(server, tls, items)?;
        }
        Ok(Servers { full, relaxed, verified, encrypted, certificate, idle_bytes })
    }
}

pub fn caller(server: &Process) -> Caller {
    Caller::new(&server.address, Credential::new("bench", "bench"))
}

/// Creates the table and fills it.
pub fn load(server: &Process, tls: Option<&TlsConnector>, items: u64) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let caller = caller(server);
        let mut connection = Connection::open(&server.address, tls).await?;
        expect_success(&mut connection, &caller, "CreateTable", &create_table().to_string()).await?;
        for first in (0..items).step_by(25) {
            let body = batch_text(first..items.min(first + 25), true);
            expect_success(&mut connection, &caller, "BatchWriteItem", &body).await?;
        }
        Ok(())
    })
}

pub async fn expect_success(
    connection: &mut Connection,
    caller: &Caller,
    operation: &str,
    body: &str,
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
    let round = Cell::new(0);
    let fire_with = |server: &Process, tls, rate| -> Result<Measured, Box<dyn Error>> {
        // Requests that were not sent before: a write that changes nothing is no write.
        round.set(round.get() + 1);
        let requests =
            workload.requests(&caller(server), arguments.items, 100 * connections as u64 + round.get());
        let intensity = Intensity { connections, duration: arguments.duration() / ROUNDS as u32, rate };
        Ok(fire(&server.address, tls, &requests, intensity)?)
    };
    let fire_at = |server: &Process| fire_with(server, None, None);
    let size = fire_at(&servers.full)?.body_bytes;
    let bare_server = Process::start(bench, &["bare", "--bytes", &size.to_string()])?;
    let reads = workload.kind == Kind::Read;
    let mut runs = Runs::default();
    for _ in 0..ROUNDS {
        runs.full.0.push(fire_at(&servers.full)?);
        runs.bare.0.push(fire_at(&bare_server)?);
        runs.verified.0.push(fire_at(&servers.verified)?);
        runs.encrypted.0.push(fire_with(&servers.encrypted, Some(&servers.certificate.client), None)?);
        if !reads {
            runs.relaxed.0.push(fire_at(&servers.relaxed)?);
        }
    }
    let full = runs.full.median().unwrap_or_default();
    let half = if reads { Some(fire_with(&servers.full, None, Some(full.rate / 2.0))?) } else { None };
    Ok(Line {
        workload: workload.name,
        connections,
        full,
        half,
        bare: runs.bare.median().unwrap_or_default(),
        relaxed: runs.relaxed.median(),
        verified: runs.verified.median().unwrap_or_default(),
        encrypted: runs.encrypted.median().unwrap_or_default(),
    })
}

/// What each server did in its turns.
#[derive(Default)]
struct Runs {
    full: Turns,
    bare: Turns,
    relaxed: Turns,
    verified: Turns,
    encrypted: Turns,
}
