//! `partita model seed`: generates items from a model, into a table or to standard output.

use super::arguments::Seed;
use super::{FINE, Outcome, file, table_check};
use crate::arguments::Endpoint;
use crate::client::Client;
use crate::output;
use crate::progress_bar::ProgressBar;
use partita_design::Model;
use partita_design::exchange::item_json;
use partita_design::exchange::table_definition::create_table;
use partita_design::generate::Generator;
use partita_design::item::{Item, item_size};
use partita_design::model::{Entity, MAX_ACTIONS};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// The most requests of one BatchWriteItem.
const BATCH: usize = 25;
/// The most bytes of one TransactWriteItems, with room for what is estimated too small.
const TRANSACTION_BYTES: usize = 3 << 20;

pub fn run(arguments: &Seed) -> Outcome {
    let mut model = file::model(&arguments.model)?;
    if let Some(table) = &arguments.table {
        model.table.name = table.clone();
    }
    let generator = Generator::new(&model, arguments.seed, arguments.items);
    if arguments.endpoint.endpoint.is_none() {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for entity in model.entities.iter().filter(|entity| !generator.is_follower(entity)) {
            for item in generator.numbers(entity).flat_map(|number| generator.bundle(entity, number)) {
                output::written(writeln!(out, "{}", Value::Object(item_json::encode(&item))));
            }
        }
        output::written(out.flush());
        return Ok(FINE);
    }
    if arguments.add_indexes {
        table_check::add_missing_indexes(&arguments.endpoint, &model)?;
    }
    ensure_table(&arguments.endpoint, &model)?;
    let progress = ProgressBar::new(generator.total());
    let loaded = load(arguments, &model, &generator, &progress);
    let (items, seconds) = progress.finish();
    loaded.map_err(|error| interruption(&model, items, &error))?;
    println!("{items} items in table {} in {seconds:.1} s", model.table.name);
    Ok(FINE)
}

/// What is said when not all items could be written.
fn interruption(model: &Model, written: u64, error: &str) -> String {
    let has_more = |entity: &Entity| entity.versions.is_some() || !entity.aggregates.is_empty();
    let advice = match model.entities.iter().any(has_more) {
        true => {
            ".\nAn enforced model refuses versions and aggregates that are not written in one transaction: detach it, seed again, and attach it afterwards"
        }
        false => "",
    };
    format!("{error}\n{written} items were written to table {} before{advice}", model.table.name)
}

/// Creates the model's table, unless it exists, waits for it, and lets its items expire as the model says. An existing table must be as the model declares it.
pub fn ensure_table(endpoint: &Endpoint, model: &Model) -> Result<(), String> {
    let mut client = Client::new(endpoint)?;
    match client.call("DescribeTable", &json!({ "TableName": model.table.name })) {
        Err(failure) if failure.is("ResourceNotFoundException") => {}
        outcome => {
            let response = outcome.map_err(|failure| failure.to_string())?;
            return table_check::require(&mut client, model, &response["Table"]);
        }
    }
    client.call("CreateTable", &create_table(model)).map_err(|failure| failure.to_string())?;
    table_check::wait_until_active(&mut client, &model.table.name)?;
    table_check::enable_expiry(&mut client, model)
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
        let count = generator.numbered(entity);
        let size = generator.bundle(entity, 0).len();
        let step = (BATCH / size.max(1)).max(1) as u64;
        let mut number = worker * step;
        while number < count {
            let end = (number + step).min(count);
            let copies =
                model.copies_of(&entity.name).filter(|copy| generator.is_follower(copy)).count() as u64;
            let numbers = || generator.numbers_in(entity, number..end);
            // Not every item has unique values, and so markers.
            let bundles: Vec<Vec<Item>> = numbers().map(|number| generator.bundle(entity, number)).collect();
            match bundles.iter().all(|bundle| bundle.len() <= 1) {
                true => write_batch(&mut client, model, bundles.into_iter().flatten())?,
                false => write_bundles(&mut client, model, bundles.into_iter())?,
            }
            progress.advance(numbers().count() as u64 * (1 + copies));
            number += workers * step;
        }
    }
    Ok(())
}

/// Writes items that belong together in transactions, of several bundles each.
pub fn write_bundles(
    client: &mut Client,
    model: &Model,
    bundles: impl Iterator<Item = Vec<Item>>,
) -> Result<(), String> {
    let (mut together, mut bytes) = (Vec::new(), 0);
    for bundle in bundles {
        let more: usize = bundle.iter().map(item_size).sum();
        if bytes + more > TRANSACTION_BYTES || together.len() + bundle.len() > MAX_ACTIONS {
            write_transaction(client, model, std::mem::take(&mut together))?;
            bytes = 0;
        }
        bytes += more;
        together.extend(bundle);
    }
    write_transaction(client, model, together)
}

fn write_transaction(client: &mut Client, model: &Model, items: Vec<Item>) -> Result<(), String> {
    if items.is_empty() {
        return Ok(());
    }
    let table = &model.table.name;
    let puts = by_key(model, items.into_iter()).into_values();
    let puts: Vec<Value> = puts.map(|item| json!({ "Put": { "TableName": table, "Item": item } })).collect();
    let request = json!({ "TransactItems": puts });
    client.call("TransactWriteItems", &request).map(|_| ()).map_err(|failure| failure.to_string())
}

/// The items by key: a request may contain each only once.
fn by_key(model: &Model, items: impl Iterator<Item = Item>) -> BTreeMap<Vec<String>, Map<String, Value>> {
    let key = |item: &Map<String, Value>| -> Vec<String> {
        let keys = model.table.keys.iter();
        keys.map(|key| item.get(key).map(Value::to_string).unwrap_or_default()).collect()
    };
    items.map(|item| item_json::encode(&item)).map(|item| (key(&item), item)).collect()
}

pub fn write_batch(
    client: &mut Client,
    model: &Model,
    items: impl Iterator<Item = Item>,
) -> Result<(), String> {
    let items = by_key(model, items);
    let requests: Vec<Value> =
        items.into_values().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
    if requests.is_empty() {
        return Ok(());
    }
    let mut unprocessed = json!({ model.table.name.clone(): requests });
    while unprocessed.as_object().is_some_and(|tables| !tables.is_empty()) {
        let response = client
            .call("BatchWriteItem", &json!({ "RequestItems": unprocessed }))
            .map_err(|failure| failure.to_string())?;
        unprocessed = response["UnprocessedItems"].clone();
    }
    Ok(())
}
