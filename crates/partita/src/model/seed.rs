//! `partita model seed`: items made from a model, into a table or onto standard output.

use super::arguments::Seed;
use super::client::Client;
use super::progress::Progress;
use super::{FINE, Outcome, file};
use partita_design::Model;
use partita_design::definition::create_table;
use partita_design::generate::Generator;
use partita_design::model::Entity;
use serde_json::{Value, json};
use std::io::Write;

/// Requests of one BatchWriteItem.
const BATCH: usize = 25;

pub fn run(arguments: &Seed) -> Outcome {
    let mut model = file::model(&arguments.model)?;
    if let Some(table) = &arguments.table {
        model.table.name = table.clone();
    }
    let generator = Generator::new(&model, arguments.seed, arguments.items);
    if arguments.endpoint.endpoint.is_none() {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for item in generator.items() {
            writeln!(out, "{}", Value::Object(item)).map_err(|error| format!("cannot write: {error}"))?;
        }
        return Ok(FINE);
    }
    ensure_table(arguments, &model)?;
    let progress = Progress::new(generator.total());
    load(arguments, &model, &generator, &progress)?;
    let (items, seconds) = progress.finish();
    println!("{items} items in table {} in {seconds:.1} s", model.table.name);
    Ok(FINE)
}

fn ensure_table(arguments: &Seed, model: &Model) -> Result<(), String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let name = json!({ "TableName": model.table.name });
    match client.call("DescribeTable", &name) {
        Ok(_) => return Ok(()),
        Err(failure) if failure.is("ResourceNotFoundException") => {}
        Err(failure) => return Err(failure.to_string()),
    }
    client.call("CreateTable", &create_table(model)).map_err(|failure| failure.to_string())?;
    for _ in 0..600 {
        let answer = client.call("DescribeTable", &name).map_err(|failure| failure.to_string())?;
        if answer["Table"]["TableStatus"] == "ACTIVE" {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(format!("table {} does not become active", model.table.name))
}

/// Each worker takes every n-th batch.
fn load(
    arguments: &Seed,
    model: &Model,
    generator: &Generator<'_>,
    progress: &Progress,
) -> Result<(), String> {
    let workers = arguments.parallel.clamp(1, 64);
    std::thread::scope(|scope| {
        let start =
            |worker: u64| scope.spawn(move || work(arguments, model, generator, progress, (worker, workers)));
        let handles: Vec<_> = (0..workers).map(start).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Result<(), String>>| {
            handle.join().unwrap_or_else(|_| Err("a loading thread failed".to_owned()))
        };
        handles.into_iter().map(join).collect::<Result<Vec<()>, String>>().map(|_| ())
    })
}

fn work(
    arguments: &Seed,
    model: &Model,
    generator: &Generator<'_>,
    progress: &Progress,
    (worker, workers): (u64, u64),
) -> Result<(), String> {
    let mut client = Client::new(&arguments.endpoint)?;
    for entity in &model.entities {
        let mut number = worker * BATCH as u64;
        while number < generator.count(entity) {
            let end = (number + BATCH as u64).min(generator.count(entity));
            write_batch(&mut client, model, generator, entity, number..end)?;
            progress.advance(end - number);
            number += workers * BATCH as u64;
        }
    }
    Ok(())
}

fn write_batch<'m>(
    client: &mut Client,
    model: &Model,
    generator: &Generator<'m>,
    entity: &Entity,
    numbers: std::ops::Range<u64>,
) -> Result<(), String> {
    let mut items = std::collections::BTreeMap::new();
    for number in numbers {
        let item = generator.item(entity, number);
        let key: Vec<String> = model
            .table
            .keys
            .iter()
            .map(|key| item.get(key).map(Value::to_string).unwrap_or_default())
            .collect();
        items.insert(key, item);
    }
    let requests: Vec<Value> =
        items.into_values().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
    let mut open = json!({ model.table.name.clone(): requests });
    while open.as_object().is_some_and(|tables| !tables.is_empty()) {
        let answer = client
            .call("BatchWriteItem", &json!({ "RequestItems": open }))
            .map_err(|failure| failure.to_string())?;
        open = answer["UnprocessedItems"].clone();
    }
    Ok(())
}
