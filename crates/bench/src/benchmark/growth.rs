//! Measures whether the cost of a request stays constant as a table grows, and whether requests stall while an index is
//! backfilled.

use crate::GrowthArguments;
use crate::benchmark::ratios::{expect_success, request_builder};
use crate::client::connection::Connection;
use crate::client::load::{LoadOptions, Measurement, Rounds, generate_load};
use crate::client::workload::{RequestBuilder, TABLE, WORKLOADS, batch_text, create_table};
use crate::report::{megabytes, millis, replace_section};
use crate::server::process::Process;
use serde_json::{Value, json};
use std::cell::Cell;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The duration of a round, within which the prepared requests are not used up.
const ROUND: Duration = Duration::from_secs(1);
/// Connections that load the table.
const LOADERS: usize = 16;
const WORKLOADS_MEASURED: [&str; 3] = ["get", "query", "put_new"];

pub fn run(arguments: &GrowthArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let mut server = start(&arguments.binary, folder.path())?;
    execute(&server, "CreateTable", &create_table())?;
    let mut table = String::from(
        "| items | loaded /s | start ms | get /s | query of ten /s | put /s | private MB |\n|---|---|---|---|---|---|---|\n",
    );
    let mut loaded = 0;
    for (pass, &items) in arguments.sizes.iter().enumerate() {
        let rate = fill_table(&server, loaded..items)?;
        loaded = items;
        drop(server);
        server = start(&arguments.binary, folder.path())?;
        let rates: Vec<Measurement> = WORKLOADS_MEASURED
            .into_iter()
            .map(|name| measure(&server, name, items, pass as u64, arguments))
            .collect::<Result<_, _>>()?;
        let line = format!(
            "| {items} | {rate:.0} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} |",
            millis(server.started_in),
            rates[0].rate,
            rates[1].rate,
            rates[2].rate,
            megabytes(server.private_bytes())
        );
        println!("{line}");
        writeln!(table, "{line}")?;
    }
    let stalls = measure_during_backfill(&server, loaded, arguments)?;
    println!("{stalls}");
    if let Some(path) = &arguments.append {
        let section = format!("{HEADING}\n\n{INTRODUCTION}{table}\n{stalls}\n");
        std::fs::write(path, replace_section(&std::fs::read_to_string(path)?, HEADING, &section))?;
    }
    Ok(())
}

const HEADING: &str = "## Growth";
const INTRODUCTION: &str = "\
Written by `cargo xtask bench growth`: one durable server, 32 connections, items of about 1 KB. Between sizes the server is
killed and restarted, so the start time includes recovery.

";

pub fn start(binary: &Path, folder: &Path) -> Result<Process, Box<dyn Error>> {
    let data = folder.join("data");
    Process::start(
        binary,
        &["serve", "--port", "0", "--data", data.to_str().ok_or("the folder name is not UTF-8")?],
    )
}

/// Executes one operation.
pub fn execute(server: &Process, operation: &str, body: &Value) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(&server.address, None).await?;
        expect_success(&mut connection, &request_builder(server), operation, &body.to_string()).await
    })
}

/// Writes items in batches over several connections; returns items per second.
pub fn fill_table(server: &Process, items: std::ops::Range<u64>) -> Result<f64, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (start, count) = (Instant::now(), items.end - items.start);
    let next = Rc::new(Cell::new(items.start));
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let tasks: Vec<_> = (0..LOADERS)
            .map(|_| {
                let (next, address, request_builder) =
                    (Rc::clone(&next), server.address.clone(), request_builder(server));
                tokio::task::spawn_local(async move {
                    load_batches(&address, &request_builder, &next, items.end)
                        .await
                        .map_err(|error| error.to_string())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        Ok(count as f64 / start.elapsed().as_secs_f64())
    })
}

async fn load_batches(
    address: &str,
    request_builder: &RequestBuilder,
    next: &Cell<u64>,
    end: u64,
) -> Result<(), Box<dyn Error>> {
    let mut connection = Connection::open(address, None).await?;
    while next.get() < end {
        let first = next.get();
        next.set(first + 25);
        let body = batch_text(first..end.min(first + 25), false);
        expect_success(&mut connection, request_builder, "BatchWriteItem", &body).await?;
    }
    Ok(())
}

fn measure(
    server: &Process,
    name: &str,
    items: u64,
    pass: u64,
    arguments: &GrowthArguments,
) -> Result<Measurement, Box<dyn Error>> {
    let workload = WORKLOADS.iter().find(|workload| workload.name == name).ok_or("unknown workload")?;
    let options = LoadOptions { connections: 32, duration: ROUND, rate: None };
    let mut rounds = Rounds::default();
    let count = arguments.seconds.ceil().max(1.0) as u64;
    // The first round is a warm-up, which pages in the mapped file. Every round has new writes, because a write that
    // changes nothing is not a write.
    for round in 0..=count {
        let requests = workload.requests(&request_builder(server), items, 100 * pass + round);
        let measured = generate_load(&server.address, None, &requests, options)?;
        if round > 0 {
            rounds.0.push(measured);
        }
    }
    Ok(rounds.median().unwrap_or_default())
}

/// Measures the latency of gets and puts while a new index is backfilled.
fn measure_during_backfill(
    server: &Process,
    items: u64,
    arguments: &GrowthArguments,
) -> Result<String, Box<dyn Error>> {
    let definitions = ["PK", "SK", "GSI1PK", "GSI1SK", "orderId"]
        .map(|name| json!({"AttributeName": name, "AttributeType": "S"}));
    let index = json!({"IndexName": "byOrder", "Projection": {"ProjectionType": "KEYS_ONLY"},
        "KeySchema": [{"AttributeName": "orderId", "KeyType": "HASH"}]});
    execute(
        server,
        "UpdateTable",
        &json!({"TableName": TABLE, "AttributeDefinitions": definitions,
        "GlobalSecondaryIndexUpdates": [{"Create": index}]}),
    )?;
    let mut longest = String::new();
    for name in ["get", "put_new"] {
        let workload = WORKLOADS.iter().find(|workload| workload.name == name).ok_or("unknown workload")?;
        let requests = workload.requests(&request_builder(server), items, 10_000);
        let duration = Duration::from_secs_f64(arguments.seconds * 2.0);
        let options = LoadOptions { connections: 32, duration, rate: Some(2_000.0) };
        let measured = generate_load(&server.address, None, &requests, options)?;
        write!(
            longest,
            "{name}: p99 {:.1} ms, longest {:.1} ms; ",
            millis(measured.p99),
            millis(measured.max)
        )?;
    }
    Ok(format!(
        "While an index on {items} items was being backfilled, at 2,000 requests per second each: {}.",
        longest.trim_end_matches("; ")
    ))
}
