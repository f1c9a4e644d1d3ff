//! `partita model import --from requests`: a log of requests, read line by line and as often as needed.

use super::{file, items};
use crate::model::arguments::Import;
use partita_design::draft::Draft;
use partita_design::exchange::request_log::{LoggedTables, RequestLog, learn};
use partita_design::inference::Inference;
use std::io::{BufRead, Read};
use std::path::Path;

/// The most bytes of a line: a request has 16 MB at most.
const MAX_LINE: u64 = 64 << 20;

pub fn draft(arguments: &Import) -> Result<Draft, String> {
    let log = &arguments.file;
    let (draft, table) = match &arguments.model {
        Some(path) => {
            let model = file::model(path)?;
            let table = arguments.table.clone().unwrap_or_else(|| model.table.name.clone());
            (Draft { model, ..Draft::default() }, table)
        }
        None => inferred(arguments)?,
    };
    let mut requests = RequestLog::new(draft, &table, arguments.model.is_some());
    each_line(log, |number, line| {
        requests.add(number, line);
        Ok(())
    })?;
    Ok(requests.finish(arguments.over))
}

/// Entities learned from items, or from what the log itself puts.
fn inferred(arguments: &Import) -> Result<(Draft, String), String> {
    let log = &arguments.file;
    if log.as_os_str() == "-" {
        return Err("the log is read several times: give a file, or a --model".to_owned());
    }
    let mut tables = LoggedTables::default();
    each_line(log, |_, line| {
        tables.add(line);
        Ok(())
    })?;
    let table =
        arguments.table.as_deref().or(tables.busiest()).ok_or("there are no requests in it")?.to_owned();
    let mut inference = Inference::new(tables.schema(&table));
    match &arguments.items {
        Some(path) => items::each_in_file(path, &table, usize::MAX, |item| inference.add(item, None))?,
        None => each_line(log, |_, line| learn(line, &table, &mut inference))?,
    }
    let draft = inference.finish().map_err(|message| {
        format!("{message}: the log puts no items into {table}; give its items with --items, or a --model")
    })?;
    Ok((draft, table))
}

fn each_line(path: &Path, mut take: impl FnMut(u64, &str) -> Result<(), String>) -> Result<(), String> {
    let mut reader = file::reader(path)?;
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let mut line = reader.by_ref().take(MAX_LINE);
        let length =
            line.read_until(b'\n', &mut bytes).map_err(|error| format!("cannot read it: {error}"))?;
        if length == 0 {
            break;
        }
        if length as u64 == MAX_LINE && !bytes.ends_with(b"\n") {
            return Err(format!("line {number} has more than {} MB", MAX_LINE >> 20));
        }
        take(number, &String::from_utf8_lossy(&bytes))?;
    }
    Ok(())
}
