//! Whether the cost of a request stays the same while a table grows, and whether anything stalls while an index is
//! added to it.

use crate::GrowthArguments;
use crate::connection::Connection;
use crate::load::{Intensity, Measured, Turns, fire};
use crate::process::Process;
use crate::report::{megabytes, millis, replace_section};
use crate::run::{caller, expect_success};
use crate::workload::{Caller, TABLE, WORKLOADS, batch_text, create_table};
use serde_json::{Value, json};
use std::cell::Cell;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A turn of a measurement: shorter than the ready-made requests last.
const TURN: Duration = Duration::from_secs(1);
const LOADERS: usize = 16;
const WORKLOADS_MEASURED: [&str; 3] = ["get", "query", "put_new"];

pub fn run(arguments: &GrowthArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let mut server = start(&arguments.binary, folder.path())?;
    ask(&server, "CreateTable", &create_table())?;
    let mut table = String::from(
        "| items | loaded /s | start ms | get /s | query of ten /s | put /s | private MB |\n|---|---|---|---|---|---|---|\n",
    );
    let mut loaded = 0;
    for (pass, &items) in arguments.sizes.iter().enumerate() {
        let rate = load(&server, loaded..items)?;
        loaded = items;
        drop(server);
        server = start(&arguments.binary, folder.path())?;
        let rates: Vec<Measured> = WORKLOADS_MEASURED
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
    let stalls = while_an_index_is_added(&server, loaded, arguments)?;
    println!("{stalls}");
    if let Some(path) = &arguments.append {
        let section = format!("{HEADING}\n\n{INTRODUCTION}{table}\n{stalls}\n");
        std::fs::write(path, replace_section(&std::fs::read_to_string(path)?, HEADING, &section))?;
    }
    Ok(())
}

const HEADING: &str = "## Growth";
const INTRODUCTION: &str = "\
Written by `cargo xtask bench growth`: one durable server, 32 connections, items of about 1 KB; between the sizes the server
is killed and started again, so that the start includes what it has to recover.

";

pub fn start(binary: &Path, folder: &Path) -> Result<Process, Box<dyn Error>> {
    let data = folder.join("data");
    Process::start(
        binary,
        &["serve", "--port", "0", "--data", data.to_str().ok_or("a folder's name is no text")?],
    )
}

pub fn ask(server: &Process, operation: &str, body: &Value) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(&server.address, None).await?;
        expect_success(&mut connection, &caller(server), operation, &body.to_string()).await
    })
}

/// Writes items in batches over several connections; returns items a second.
pub fn load(server: &Process, items: std::ops::Range<u64>) -> Result<f64, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (begun, count) = (Instant::now(), items.end - items.start);
    let next = Rc::new(Cell::new(items.start));
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let tasks: Vec<_> = (0..LOADERS)
            .map(|_| {
                let (next, address, caller) = (Rc::clone(&next), server.address.clone(), caller(server));
                tokio::task::spawn_local(async move {
                    load_batches(&address, &caller, &next, items.end).await.map_err(|error| error.to_string())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    })
}

async fn load_batches(
    address: &str,
    caller: &Caller,
    next: &Cell<u64>,
    end: u64,
) -> Result<(), Box<dyn Error>> {
    let mut connection = Connection::open(address, None).await?;
    while next.get() < end {
        let first = next.get();
        next.set(first + 25);
        let body = batch_text(first..end.min(first + 25), false);
        expect_success(&mut connection, caller, "BatchWriteItem", &body).await?;
    }
    Ok(())
}

fn measure(
    server: &Process,
    name: &str,
    items: u64,
    pass: u64,
    arguments: &GrowthArguments,
) -> Result<Measured, Box<dyn Error>> {
    let workload = WORKLOADS.iter().find(|workload| workload.name == name).ok_or("an unknown workload")?;
    let intensity = Intensity { connections: 32, duration: TURN, rate: None };
    let mut turns = Turns::default();
    let count = arguments.seconds.ceil().max(1.0) as u64;
    // The first turn brings into memory what was just mapped. Writes are new ones in each: one that changes nothing is
    // no write.
    for turn in 0..=count {
        let requests = workload.requests(&caller(server), items, 100 * pass + turn);
        let measured = fire(&server.address, None, &requests, intensity)?;
        if turn > 0 {
            turns.0.push(measured);
        }
    }
    Ok(turns.median().unwrap_or_default())
}

/// The longest that gets and puts took while a new index was filled.
fn while_an_index_is_added(
    server: &Process,
    items: u64,
    arguments: &GrowthArguments,
) -> Result<String, Box<dyn Error>> {
    let definitions = ["PK", "SK", "GSI1PK", "GSI1SK", "orderId"]
        .map(|name| json!({"AttributeName": name, "AttributeType": "S"}));
    let index = json!({"IndexName": "byOrder", "Projection": {"ProjectionType": "KEYS_ONLY"},
        "KeySchema": [{"AttributeName": "orderId", "KeyType": "HASH"}]});
    ask(
        server,
        "UpdateTable",
        &json!({"TableName": TABLE, "AttributeDefinitions": definitions,
        "GlobalSecondaryIndexUpdates": [{"Create": index}]}),
    )?;
    let mut longest = String::new();
    for name in ["get", "put_new"] {
        let workload =
            WORKLOADS.iter().find(|workload| workload.name == name).ok_or("an unknown workload")?;
        let requests = workload.requests(&caller(server), items, 10_000);
        let duration = Duration::from_secs_f64(arguments.seconds * 2.0);
        let intensity = Intensity { connections: 32, duration, rate: Some(2_000.0) };
        let measured = fire(&server.address, None, &requests, intensity)?;
        write!(
            longest,
            "{name}: p99 {:.1} ms, longest {:.1} ms; ",
            millis(measured.p99),
            millis(measured.max)
        )?;
    }
    Ok(format!(
        "While an index of {items} items was being filled, at 2,000 requests a second each: {}.",
        longest.trim_end_matches("; ")
    ))
}
