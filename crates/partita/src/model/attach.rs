//! `partita model attach`, `detach` and `watch`: models of a running server, and its request statistics.

use super::arguments::{Attach, Detach, PlainFormat, Watch};
use super::{FINE, Outcome, file};
use crate::client::{Client, MODELS_PATH};
use serde_json::Value;

pub fn attach(arguments: &Attach) -> Outcome {
    let text = file::text(&arguments.model)?;
    // Parsed here first, so that errors name the file.
    let model = file::model(&arguments.model)?;
    let table = arguments.table.as_ref().unwrap_or(&model.table.name);
    let mode = if arguments.enforce { "enforce" } else { "warn" };
    let parameters = [("table", table.as_str()), ("mode", mode)];
    Client::new(&arguments.endpoint)?.administer(MODELS_PATH, "PUT", &parameters, text.as_bytes())?;
    println!("{} is attached to table {table}, mode {mode}", arguments.model.display());
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
    println!("table {}, mode {}", text(&statistics["table"]), text(&statistics["mode"]));
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
            "\n{title:width$} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9}",
            "requests", "units", "p50 ms", "p99 ms", "read", "wasted"
        );
        for entry in entries {
            let milliseconds = |field: &str| entry[field].as_f64().unwrap_or_default() / 1000.0;
            println!(
                "{:width$} {:>10} {:>10.1} {:>9.2} {:>9.2} {:>9} {:>9}",
                text(&entry[label]),
                entry["requests"],
                entry["units"].as_f64().unwrap_or_default(),
                milliseconds("p50Microseconds"),
                milliseconds("p99Microseconds"),
                entry["itemsRead"],
                entry["filterWaste"],
            );
        }
    }
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
            .for_each(|key| println!("{:>12}  {}", key["requests"], text(&key["key"])));
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
