//! `partita model seed`: generates items from a model, into a table or to standard output.

use super::arguments::Seed;
use super::{FINE, Outcome, file};
use crate::arguments::Endpoint;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use partita_design::Model;
use partita_design::definition::create_table;
use partita_design::generate::Generator;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// The most requests of one BatchWriteItem.
const BATCH: usize = 25;

pub fn run(arguments: &Seed) -> Outcome {
    let mut model = file::model(&arguments.model)?;
    if let Some(table) = &arguments.table {
        model.table.name = table.clone();
    }
    let generator = Generator::new(&model, arguments.seed, arguments.items);
    if arguments.endpoint.endpoint.is_none() {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for entity in model.entities.iter().filter(|entity| !generator.is_follower(entity)) {
            for item in (0..generator.count(entity)).flat_map(|number| generator.bundle(entity, number)) {
                writeln!(out, "{}", Value::Object(item)).map_err(|error| format!("cannot write: {error}"))?;
            }
        }
        return Ok(FINE);
    }
    ensure_table(&arguments.endpoint, &model)?;
    let progress = ProgressBar::new(generator.total());
    load(arguments, &model, &generator, &progress)?;
    let (items, seconds) = progress.finish();
    println!("{items} items in table {} in {seconds:.1} s", model.table.name);
    Ok(FINE)
}

/// Creates the model's table, unless it exists, and waits for it.
pub fn ensure_table(endpoint: &Endpoint, model: &Model) -> Result<(), String> {
    let mut client = Client::new(endpoint)?;
    let name = json!({ "TableName": model.table.name });
    match client.call("DescribeTable", &name) {
        Ok(_) => return Ok(()),
        Err(failure) if failure.is("ResourceNotFoundException") => {}
        Err(failure) => return Err(failure.to_string()),
    }
    client.call("CreateTable", &create_table(model)).map_err(|failure| failure.to_string())?;
    for _ in 0..600 {
        let response = client.call("DescribeTable", &name).map_err(|failure| failure.to_string())?;
        if response["Table"]["TableStatus"] == "ACTIVE" {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(format!("table {} does not become active", model.table.name))
}

/// Loads items in parallel: each worker takes every n-th batch.
#[expect(clippy::disallowed_methods, reason = "starts the threads that load")]
fn load(
    arguments: &Seed,
    model: &Model,
    generator: &Generator<'_>,
    progress: &ProgressBar,
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
    progress: &ProgressBar,
    (worker, workers): (u64, u64),
) -> Result<(), String> {
    let mut client = Client::new(&arguments.endpoint)?;
    for entity in model.entities.iter().filter(|entity| !generator.is_follower(entity)) {
        let count = generator.count(entity);
        // Items that belong together are written in one batch.
        let size = generator.bundle(entity, 0).len();
        let step = (BATCH / size.max(1)).max(1) as u64;
        let mut number = worker * step;
        while number < count {
            let end = (number + step).min(count);
            let copies =
                model.copies_of(&entity.name).filter(|copy| generator.is_follower(copy)).count() as u64;
            write_batch(
                &mut client,
                model,
                (number..end).flat_map(|number| generator.bundle(entity, number)),
            )?;
            progress.advance((end - number) * (1 + copies));
            number += workers * step;
        }
    }
    Ok(())
}

fn write_batch(
    client: &mut Client,
    model: &Model,
    items: impl Iterator<Item = Map<String, Value>>,
) -> Result<(), String> {
    // A batch may contain each key only once.
    let key = |item: &Map<String, Value>| -> Vec<String> {
        let keys = model.table.keys.iter();
        keys.map(|key| item.get(key).map(Value::to_string).unwrap_or_default()).collect()
    };
    let items: BTreeMap<Vec<String>, _> = items.map(|item| (key(&item), item)).collect();
    let requests: Vec<Value> =
        items.into_values().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
    let mut unprocessed = json!({ model.table.name.clone(): requests });
    while unprocessed.as_object().is_some_and(|tables| !tables.is_empty()) {
        let response = client
            .call("BatchWriteItem", &json!({ "RequestItems": unprocessed }))
            .map_err(|failure| failure.to_string())?;
        unprocessed = response["UnprocessedItems"].clone();
    }
    Ok(())
}
