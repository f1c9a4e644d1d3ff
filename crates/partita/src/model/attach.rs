//! `partita model attach`, `detach` and `watch`: models of a running server, and its request statistics.

use super::arguments::{Attach, Detach, PlainFormat, Watch};
use super::{FINE, Outcome, file, table_check};
use crate::client::{Client, MODELS_PATH};
use partita_design::formatting::printable;
use serde_json::Value;
use std::borrow::Cow;

pub fn attach(arguments: &Attach) -> Outcome {
    let source = file::text(&arguments.model)?;
    // Parsed here first, so that errors name the file.
    let mut model = file::model(&arguments.model)?;
    if let Some(table) = &arguments.table {
        table.clone_into(&mut model.table.name);
    }
    let table = &model.table.name;
    if arguments.add_indexes {
        table_check::add_missing_indexes(&arguments.endpoint, &model)?;
    }
    let exists = table_check::require_existing(&mut Client::new(&arguments.endpoint)?, &model)?;
    let mode = if arguments.enforce { "enforce" } else { "warn" };
    let force = if arguments.force { "true" } else { "false" };
    let mut parameters = vec![("table", table.as_str()), ("mode", mode), ("force", force)];
    parameters.extend(arguments.reads.map(|reads| ("reads", reads.name())));
    let answer =
        Client::new(&arguments.endpoint)?.administer(MODELS_PATH, "PUT", &parameters, source.as_bytes())?;
    println!("{} is attached to table {table}, mode {mode}", arguments.model.display());
    if !exists {
        println!("there is no table {table} yet: writes are judged once it is created");
    }
    for rule in list(&answer["lowered"]) {
        println!("no longer checked as before: {}", text(&rule));
    }
    Ok(FINE)
}

pub fn detach(arguments: &Detach) -> Outcome {
    Client::new(&arguments.endpoint)?.administer(
        MODELS_PATH,
        "DELETE",
        &[("table", &arguments.table)],
        b"",
    )?;
    println!("the model of table {} is detached", arguments.table);
    Ok(FINE)
}

pub fn watch(arguments: &Watch) -> Outcome {
    let parameters: Vec<(&str, &str)> =
        arguments.table.iter().map(|table| ("table", table.as_str())).collect();
    let response = Client::new(&arguments.endpoint)?.administer(MODELS_PATH, "GET", &parameters, b"")?;
    if arguments.format == PlainFormat::Json {
        println!("{response}");
        return Ok(FINE);
    }
    let models = match response["models"].as_array() {
        Some(models) => models.clone(),
        None => vec![response],
    };
    if models.is_empty() {
        println!("no model is attached; partita model attach MODEL does it");
    }
    models.iter().for_each(print);
    Ok(FINE)
}

fn print(statistics: &Value) {
    println!(
        "table {}, mode {}{}, reads {}; {:.0} seconds",
        text(&statistics["table"]),
        text(&statistics["mode"]),
        if statistics["transition"] == true { ", being migrated" } else { "" },
        text(&statistics["reads"]),
        statistics["seconds"].as_f64().unwrap_or_default()
    );
    for (title, field, label) in [
        ("patterns", "patterns", "pattern"),
        ("writes", "writes", "write"),
        ("not declared", "undeclared", "request"),
    ] {
        let entries = list(&statistics[field]);
        if entries.is_empty() {
            continue;
        }
        let width = entries
            .iter()
            .map(|entry| text(&entry[label]).chars().count())
            .max()
            .unwrap_or(0)
            .max(title.len());
        println!(
            "\n{title:width$} {:>10} {:>8} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9}",
            "requests", "failed", "declared/s", "observed/s", "units", "p50 ms", "p99 ms", "read", "wasted"
        );
        for entry in entries {
            let milliseconds = |field: &str| entry[field].as_f64().unwrap_or_default() / 1000.0;
            let rate =
                |field: &str| entry[field].as_f64().map(|rate| format!("{rate:.1}")).unwrap_or_default();
            println!(
                "{:width$} {:>10} {:>8} {:>10} {:>10} {:>10.1} {:>9.2} {:>9.2} {:>9} {:>9}",
                text(&entry[label]),
                number(&entry["requests"]),
                number(&entry["failed"]),
                rate("declaredPerSecond"),
                rate("observedPerSecond"),
                entry["units"].as_f64().unwrap_or_default(),
                milliseconds("p50Microseconds"),
                milliseconds("p99Microseconds"),
                number(&entry["itemsRead"]),
                number(&entry["filterWaste"]),
            );
        }
    }
    print_unused(statistics);
    for violation in list(&statistics["violations"]) {
        println!(
            "\nrule {} broken {} times, last: {}",
            text(&violation["rule"]),
            violation["times"],
            text(&violation["last"])
        );
    }
    for template in list(&statistics["hotKeys"]) {
        println!(
            "\n{} in {}: {} requests",
            text(&template["template"]),
            text(&template["place"]),
            template["requests"]
        );
        list(&template["keys"])
            .iter()
            .for_each(|key| println!("{:>12}  {}", number(&key["requests"]), text(&key["key"])));
    }
}

/// Patterns and writes that the model declares and nobody uses, and indexes that nobody reads.
fn print_unused(statistics: &Value) {
    for (title, field, label) in [
        ("patterns never asked", "patternsNeverAsked", "pattern"),
        ("writes never made", "writesNeverMade", "write"),
    ] {
        let entries = list(&statistics[field]);
        let names: Vec<Cow<'_, str>> = entries.iter().map(|entry| text(&entry[label])).collect();
        if !names.is_empty() {
            println!("\n{title}: {}", names.join(", "));
        }
    }
    for index in list(&statistics["unusedIndexes"]) {
        let cost = index["monthlyCost"].as_f64();
        let cost = cost.map(|cost| format!("; it costs {cost:.2} USD a month at the declared rates"));
        println!("\nindex {} is never read{}", text(&index["index"]), cost.unwrap_or_default());
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// A number of the server's answer. As JSON, it could not be aligned.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// A text of the server's answer, which may quote what its clients have sent.
fn text(value: &Value) -> Cow<'_, str> {
    printable(value.as_str().unwrap_or_default())
}
