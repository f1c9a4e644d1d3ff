//! Runs every workload on Partita and on the bare server and reports the ratios.

use crate::RunArguments;
use crate::client::certificate::Certificate;
use crate::client::connection::Connection;
use crate::client::load::{LoadOptions, Measurement, Rounds, generate_load};
use crate::client::workload::{RequestBuilder, WORKLOADS, Workload, WorkloadKind, batch_text, create_table};
use crate::report::{Report, WorkloadResult};
use crate::server::process::Process;
use partita_auth::Credential;
use std::cell::Cell;
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio_rustls::TlsConnector;

const CONNECTIONS: [usize; 2] = [1, 32];
/// Rounds of each server at a workload; the median round counts.
const ROUNDS: usize = 3;

pub fn run(arguments: &RunArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let sync_rate = crate::disk::sync_rate(folder.path(), Duration::from_secs(1))?;
    let mut report = Report::new(sync_rate, arguments.items);
    let servers = Servers::start(&arguments.binary, folder.path(), arguments.items)?;
    report.started(servers.durable.started_in, servers.idle_bytes);
    let bench = std::env::current_exe()?;
    let selected =
        |workload: &&Workload| arguments.only.as_ref().is_none_or(|part| workload.name.contains(part));
    for workload in WORKLOADS.iter().filter(selected) {
        for connections in CONNECTIONS {
            let line = measure(&servers, &bench, workload, connections, arguments)?;
            println!("{line}");
            report.add(line);
        }
    }
    report.resident(servers.durable.private_bytes());
    if let Some(path) = &arguments.write {
        std::fs::write(path, report.to_markdown())?;
        println!("written to {}", path.display());
    }
    Ok(())
}

/// Four servers of the same binary: durable, relaxed, with verified signatures, and with TLS.
struct Servers {
    durable: Process,
    relaxed: Process,
    verified: Process,
    tls: Process,
    certificate: Certificate,
    idle_bytes: u64,
}

impl Servers {
    fn start(binary: &Path, folder: &Path, items: u64) -> Result<Servers, Box<dyn Error>> {
        let start = |name: &str, more: &[&str]| {
            let data = folder.join(name);
            let data = data.to_str().ok_or("the folder name is not UTF-8")?;
            Process::start(binary, &[&["serve", "--port", "0", "--data", data], more].concat())
        };
        let durable = start("durable", &[])?;
        std::thread::sleep(Duration::from_millis(200));
        let idle_bytes = durable.private_bytes();
        let relaxed = start("relaxed", &["--durability", "relaxed"])?;
        let file = |path: &Path| path.to_str().map(str::to_owned).ok_or("the file name is not UTF-8");
        let secret = folder.join("secret");
        std::fs::write(&secret, "bench")?;
        let verified = start("verified", &["--access-key", "bench", "--secret-key-file", &file(&secret)?])?;
        let certificate = Certificate::create(folder)?;
        let files = (file(&certificate.chain)?, file(&certificate.key)?);
        let tls = start("tls", &["--tls-cert", &files.0, "--tls-key", &files.1])?;
        for (server, connector) in
            [(&durable, None), (&relaxed, None), (&verified, None), (&tls, Some(&certificate.client))]
        {
            fill_table(server, connector, items)?;
        }
        Ok(Servers { durable, relaxed, verified, tls, certificate, idle_bytes })
    }
}

/// Returns a builder of requests to a server.
pub fn request_builder(server: &Process) -> RequestBuilder {
    RequestBuilder::new(&server.address, Credential::new("bench", "bench"))
}

/// Creates the table and fills it.
pub fn fill_table(server: &Process, tls: Option<&TlsConnector>, items: u64) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let request_builder = request_builder(server);
        let mut connection = Connection::open(&server.address, tls).await?;
        expect_success(&mut connection, &request_builder, "CreateTable", &create_table().to_string()).await?;
        for first in (0..items).step_by(25) {
            let body = batch_text(first..items.min(first + 25), true);
            expect_success(&mut connection, &request_builder, "BatchWriteItem", &body).await?;
        }
        Ok(())
    })
}

/// Sends a request and returns an error unless it succeeds.
pub async fn expect_success(
    connection: &mut Connection,
    request_builder: &RequestBuilder,
    operation: &str,
    body: &str,
) -> Result<(), Box<dyn Error>> {
    let response = connection.send_and_read(&request_builder.request(operation, body)).await?;
    if response.status == 200 {
        return Ok(());
    }
    Err(format!(
        "{operation} failed with status {}: {}",
        response.status,
        String::from_utf8_lossy(&response.body)
    )
    .into())
}

/// Measures one workload on each server in turn, each time with new requests.
fn measure(
    servers: &Servers,
    bench: &Path,
    workload: &Workload,
    connections: usize,
    arguments: &RunArguments,
) -> Result<WorkloadResult, Box<dyn Error>> {
    let round = Cell::new(0);
    let load_with = |server: &Process, tls, rate| -> Result<Measurement, Box<dyn Error>> {
        // New requests every time: a write that changes nothing is not a write.
        round.set(round.get() + 1);
        let requests = workload.requests(
            &request_builder(server),
            arguments.items,
            100 * connections as u64 + round.get(),
        );
        let options = LoadOptions { connections, duration: arguments.duration() / ROUNDS as u32, rate };
        Ok(generate_load(&server.address, tls, &requests, options)?)
    };
    let full_load = |server: &Process| load_with(server, None, None);
    let size = full_load(&servers.durable)?.body_bytes;
    let bare_server = Process::start(bench, &["bare", "--bytes", &size.to_string()])?;
    let reads = workload.kind == WorkloadKind::Read;
    let mut runs = Runs::default();
    for _ in 0..ROUNDS {
        runs.durable.0.push(full_load(&servers.durable)?);
        runs.bare.0.push(full_load(&bare_server)?);
        runs.verified.0.push(full_load(&servers.verified)?);
        runs.tls.0.push(load_with(&servers.tls, Some(&servers.certificate.client), None)?);
        if !reads {
            runs.relaxed.0.push(full_load(&servers.relaxed)?);
        }
    }
    let durable = runs.durable.median().unwrap_or_default();
    let half = if reads { Some(load_with(&servers.durable, None, Some(durable.rate / 2.0))?) } else { None };
    Ok(WorkloadResult {
        workload: workload.name,
        connections,
        durable,
        half,
        bare: runs.bare.median().unwrap_or_default(),
        relaxed: runs.relaxed.median(),
        verified: runs.verified.median().unwrap_or_default(),
        tls: runs.tls.median().unwrap_or_default(),
    })
}

/// The rounds of each server.
#[derive(Default)]
struct Runs {
    durable: Rounds,
    bare: Rounds,
    relaxed: Rounds,
    verified: Rounds,
    tls: Rounds,
}
