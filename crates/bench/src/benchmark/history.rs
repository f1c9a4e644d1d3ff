//! Measures the cost of recording changes: writes to a table with a stream, a backup or point-in-time recovery, compared
//! with a plain table; and the duration of backups and restores.

use crate::HistoryArguments;
use crate::benchmark::growth::{execute, fill_table, start};
use crate::benchmark::ratios::request_builder;
use crate::client::connection::Connection;
use crate::client::load::{LoadOptions, Rounds, generate_load};
use crate::client::workload::{TABLE, WORKLOADS, Workload, create_table};
use crate::report::{millis, replace_section};
use crate::server::process::Process;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

const MEASURED: [&str; 4] = ["put_new", "update", "update_hot", "transact4"];
const ROUNDS: u64 = 5;
/// How often the status of a restore is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

const HEADING: &str = "## Streams, backups and recovery";
const INTRODUCTION: &str = "\
Written by `cargo xtask bench history`: durable servers of the same binary, measured in turn over 32 connections. The rate of
writes to a plain table, and the ratio to it of writes to a table with a stream of new and old images, one backup, or
point-in-time recovery.

";

/// The variants of the table, and the request that sets each up.
fn variants() -> [(&'static str, Option<(&'static str, Value)>); 4] {
    let stream = json!({"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"});
    let recovery = json!({"PointInTimeRecoveryEnabled": true});
    [
        ("plain", None),
        ("stream", Some(("UpdateTable", json!({"TableName": TABLE, "StreamSpecification": stream})))),
        ("backup", Some(("CreateBackup", json!({"TableName": TABLE, "BackupName": "bench"})))),
        (
            "recovery",
            Some((
                "UpdateContinuousBackups",
                json!({"TableName": TABLE, "PointInTimeRecoverySpecification": recovery}),
            )),
        ),
    ]
}

pub fn run(arguments: &HistoryArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let mut servers = Vec::new();
    for (name, setting) in variants() {
        let server = start(&arguments.binary, &folder.path().join(name))?;
        execute(&server, "CreateTable", &create_table())?;
        fill_table(&server, 0..arguments.items)?;
        if let Some((operation, body)) = setting {
            execute(&server, operation, &body)?;
        }
        servers.push((name, server));
    }
    let mut text =
        String::from("| writes | plain /s | stream | backup | recovery |\n|---|---|---|---|---|\n");
    for workload in MEASURED.iter().filter_map(|name| WORKLOADS.iter().find(|known| known.name == *name)) {
        let line = measure(&servers, workload, arguments)?;
        println!("{line}");
        writeln!(text, "{line}")?;
    }
    let restored = back_up_and_restore(&servers[0].1)?;
    println!("{restored}");
    if let Some(path) = &arguments.append {
        let section = format!("{HEADING}\n\n{INTRODUCTION}{text}\n{restored}\n");
        std::fs::write(path, replace_section(&std::fs::read_to_string(path)?, HEADING, &section))?;
    }
    Ok(())
}

/// Measures the servers in turn, each time with new requests.
fn measure(
    servers: &[(&str, Process)],
    workload: &Workload,
    arguments: &HistoryArguments,
) -> Result<String, Box<dyn Error>> {
    let mut rounds: Vec<Rounds> = servers.iter().map(|_| Rounds::default()).collect();
    let duration = Duration::from_secs_f64(arguments.seconds / ROUNDS as f64);
    for round in 0..ROUNDS {
        for ((_, server), rounds) in servers.iter().zip(&mut rounds) {
            let requests = workload.requests(&request_builder(server), arguments.items, round);
            let options = LoadOptions { connections: 32, duration, rate: None };
            rounds.0.push(generate_load(&server.address, None, &requests, options)?);
        }
    }
    let rates: Vec<f64> = rounds.into_iter().map(|rounds| rounds.median().unwrap_or_default().rate).collect();
    let mut line = format!("| {} | {:.0} |", workload.name, rates[0]);
    rates[1..].iter().for_each(|rate| line.push_str(&format!(" {:.2} |", rate / rates[0])));
    Ok(line)
}

/// Creates a backup of the table and restores a table from it.
fn back_up_and_restore(server: &Process) -> Result<String, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(&server.address, None).await?;
        let start = Instant::now();
        let backup = json!({"TableName": TABLE, "BackupName": "restored"});
        let created = request(&mut connection, server, "CreateBackup", &backup).await?;
        let took = start.elapsed();
        let details = &created["BackupDetails"];
        let start = Instant::now();
        let restore = json!({"TargetTableName": "Restored", "BackupArn": details["BackupArn"]});
        request(&mut connection, server, "RestoreTableFromBackup", &restore).await?;
        let items = loop {
            let described =
                request(&mut connection, server, "DescribeTable", &json!({"TableName": "Restored"})).await?;
            if described["Table"]["TableStatus"] == "ACTIVE" {
                break described["Table"]["ItemCount"].as_f64().unwrap_or_default();
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        let rate = items / start.elapsed().as_secs_f64();
        let size = details["BackupSizeBytes"].as_f64().unwrap_or_default() / 1e6;
        Ok(format!(
            "A backup of {items:.0} items ({size:.0} MB) took {:.1} ms; a table with its index was restored from it at {rate:.0} items per second.",
            millis(took)
        ))
    })
}

async fn request(
    connection: &mut Connection,
    server: &Process,
    operation: &str,
    body: &Value,
) -> Result<Value, Box<dyn Error>> {
    let response =
        connection.send_and_read(&request_builder(server).request(operation, &body.to_string())).await?;
    match response.status {
        200 => Ok(serde_json::from_slice(&response.body)?),
        status => Err(format!("{operation}: {status} {}", String::from_utf8_lossy(&response.body)).into()),
    }
}
