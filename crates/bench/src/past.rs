//! What it costs to keep track of changes: writes to a table with a stream, with a backup, and with point-in-time recovery, beside
//! the same writes to a plain one; and how long backups and restores take.

use crate::PastArguments;
use crate::connection::Connection;
use crate::growth::{ask, load, start};
use crate::load::{Intensity, Turns, fire};
use crate::process::Process;
use crate::report::{millis, replace_section};
use crate::run::caller;
use crate::workload::{TABLE, WORKLOADS, Workload, create_table};
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

const MEASURED: [&str; 4] = ["put_new", "update", "update_hot", "transact4"];
const ROUNDS: u64 = 5;
/// How often it is asked whether a restore has ended.
const LOOK: Duration = Duration::from_millis(20);

const HEADING: &str = "## The past";
const INTRODUCTION: &str = "\
Written by `cargo xtask bench past`: durable servers of the same binary, 32 connections, in turns; the rate of writes to a table that has
a stream of new and old images, one backup, or point-in-time recovery, and its ratio to the plain table's.

";

/// What a table is asked for before it is written to.
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

pub fn run(arguments: &PastArguments) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let mut servers = Vec::new();
    for (name, setting) in variants() {
        let server = start(&arguments.binary, &folder.path().join(name))?;
        ask(&server, "CreateTable", &create_table())?;
        load(&server, 0..arguments.items)?;
        if let Some((operation, body)) = setting {
            ask(&server, operation, &body)?;
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

/// Each server in turn, with requests that it has not seen.
fn measure(
    servers: &[(&str, Process)],
    workload: &Workload,
    arguments: &PastArguments,
) -> Result<String, Box<dyn Error>> {
    let mut turns: Vec<Turns> = servers.iter().map(|_| Turns::default()).collect();
    let duration = Duration::from_secs_f64(arguments.seconds / ROUNDS as f64);
    for round in 0..ROUNDS {
        for ((_, server), turns) in servers.iter().zip(&mut turns) {
            let requests = workload.requests(&caller(server), arguments.items, round);
            let intensity = Intensity { connections: 32, duration, rate: None };
            turns.0.push(fire(&server.address, None, &requests, intensity)?);
        }
    }
    let rates: Vec<f64> = turns.into_iter().map(|turns| turns.median().unwrap_or_default().rate).collect();
    let mut line = format!("| {} | {:.0} |", workload.name, rates[0]);
    rates[1..].iter().for_each(|rate| line.push_str(&format!(" {:.2} |", rate / rates[0])));
    Ok(line)
}

/// A backup of the table as it is now, and a table restored from it.
fn back_up_and_restore(server: &Process) -> Result<String, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(&server.address, None).await?;
        let begun = Instant::now();
        let backup = json!({"TableName": TABLE, "BackupName": "restored"});
        let made = answer(&mut connection, server, "CreateBackup", &backup).await?;
        let took = begun.elapsed();
        let details = &made["BackupDetails"];
        let begun = Instant::now();
        let restore = json!({"TargetTableName": "Restored", "BackupArn": details["BackupArn"]});
        answer(&mut connection, server, "RestoreTableFromBackup", &restore).await?;
        let items = loop {
            let described =
                answer(&mut connection, server, "DescribeTable", &json!({"TableName": "Restored"})).await?;
            if described["Table"]["TableStatus"] == "ACTIVE" {
                break described["Table"]["ItemCount"].as_f64().unwrap_or_default();
            }
            tokio::time::sleep(LOOK).await;
        };
        let rate = items / begun.elapsed().as_secs_f64();
        let size = details["BackupSizeBytes"].as_f64().unwrap_or_default() / 1e6;
        Ok(format!(
            "A backup of {items:.0} items ({size:.0} MB) was made in {:.1} ms; a table with its index was restored from it at {rate:.0} items a second.",
            millis(took)
        ))
    })
}

async fn answer(
    connection: &mut Connection,
    server: &Process,
    operation: &str,
    body: &Value,
) -> Result<Value, Box<dyn Error>> {
    let answer = connection.ask(&caller(server).request(operation, &body.to_string())).await?;
    match answer.status {
        200 => Ok(serde_json::from_slice(&answer.body)?),
        status => Err(format!("{operation}: {status} {}", String::from_utf8_lossy(&answer.body)).into()),
    }
}
