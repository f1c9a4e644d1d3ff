//! `partita model copy`: the rows of a relational database as items of a model, written and compared on both sides.

mod rows;

use super::arguments::Copy;
use super::{FINE, FOUND, Outcome, file, items, seed};
use crate::client::Client;
use partita_design::Model;
use partita_design::formatting::{plural, printable};
use partita_design::item::Item;
use partita_design::model::Entity;
use partita_design::relational::rows::{canonical, entity_of, identity, items as items_of, key_text};
use rows::TableRows;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of items that are written together; a batch may hold no more.
const BATCH: usize = 25;
/// How many problems or differences of a table are named.
const NAMED: usize = 10;

pub fn run(arguments: &Copy) -> Outcome {
    let mut model = file::model(&arguments.model)?;
    if let Some(table) = &arguments.table {
        model.table.name = table.clone();
    }
    let tables = rows::read(arguments, &model)?;
    let expected = Expected::of(&model, &tables)?;
    expected.print_rows(&tables);
    let absent = without_table(&model, &tables);
    absent.iter().for_each(|entity| println!("{entity}: there is no table of it, so nothing is copied"));
    if !expected.problems.is_empty() {
        let named = expected.problems.iter().take(NAMED);
        named.for_each(|problem| println!("  {}", printable(problem)));
        println!("{} cannot be copied; nothing was written", plural(expected.problems.len() as u64, "row"));
        return Ok(FOUND);
    }
    if arguments.endpoint.endpoint.is_none() {
        println!(
            "{} items would be written; give --endpoint and --apply to write them",
            expected.items.len()
        );
        return Ok(FINE);
    }
    let mut client = Client::new(&arguments.endpoint)?;
    if arguments.apply {
        seed::ensure_table(&arguments.endpoint, &model)?;
        for table in &tables {
            write(&mut client, &model, table)?;
        }
    }
    let outcome = compare(&mut client, &model, &tables, expected)?;
    // A folder may hold some of the tables; a database has them all.
    Ok(if absent.is_empty() || arguments.rows.is_some() { outcome } else { FOUND })
}

/// The entities that no table was read for. Copies come with their originals.
fn without_table<'m>(model: &'m Model, tables: &[TableRows]) -> Vec<&'m str> {
    let read: Vec<&str> = tables
        .iter()
        .filter_map(|table| entity_of(model, &table.name))
        .map(|entity| entity.name.as_str())
        .collect();
    let wanted = model.entities.iter().filter(|entity| entity.copies.is_none());
    wanted.map(|entity| entity.name.as_str()).filter(|name| !read.contains(name)).collect()
}

/// What each row becomes: every item by its identity.
#[derive(Default)]
struct Expected {
    items: HashMap<String, ExpectedItem>,
    rows: Vec<usize>,
    problems: Vec<String>,
}

struct ExpectedItem {
    table: usize,
    /// The line of its row, or its number.
    line: usize,
    /// The hash of its content.
    content: u64,
    /// Its key, as it is shown.
    key: String,
}

impl Expected {
    fn of(model: &Model, tables: &[TableRows]) -> Result<Expected, String> {
        let mut expected = Expected::default();
        for (number, table) in tables.iter().enumerate() {
            let entity = entity_of_table(model, table)?;
            let mut count = 0;
            table.each(|line, row| {
                count += 1;
                match row.and_then(|row| items_of(model, entity, &row)) {
                    Ok(items) => {
                        items.iter().for_each(|item| expected.add(model, tables, (number, line), item))
                    }
                    Err(message) => expected.problems.push(format!("{}: {message}", table.place(line))),
                }
                Ok(())
            })?;
            expected.rows.push(count);
        }
        Ok(expected)
    }

    fn add(&mut self, model: &Model, tables: &[TableRows], (table, line): (usize, usize), item: &Item) {
        let key = key_text(model, item);
        let own = ExpectedItem { table, line, content: content_hash(item), key: key.clone() };
        if let Some(other) = self.items.insert(identity(model, item), own) {
            let (own, other) = (tables[table].place(line), tables[other.table].place(other.line));
            self.problems.push(format!("{own}: has the key {key}, as {other}"));
        }
    }

    fn print_rows(&self, tables: &[TableRows]) {
        for (table, rows) in tables.iter().zip(&self.rows) {
            println!("{}: {}", table.name, plural(*rows as u64, "row"));
        }
    }
}

fn content_hash(item: &Item) -> u64 {
    let mut hasher = DefaultHasher::new();
    canonical(item).hash(&mut hasher);
    hasher.finish()
}

fn entity_of_table<'m>(model: &'m Model, table: &TableRows) -> Result<&'m Entity, String> {
    entity_of(model, &table.name)
        .ok_or_else(|| format!("the model has no entity for the table {}", table.name))
}

/// Writes the rows of a table: a row's items in one transaction, single ones in batches.
fn write(client: &mut Client, model: &Model, table: &TableRows) -> Result<(), String> {
    let entity = entity_of_table(model, table)?;
    let mut bundles: Vec<Vec<Item>> = Vec::new();
    table.each(|_, row| {
        bundles.push(items_of(model, entity, &row?)?);
        if bundles.iter().map(Vec::len).sum::<usize>() >= BATCH {
            flush(client, model, &mut bundles)
        } else {
            Ok(())
        }
    })?;
    flush(client, model, &mut bundles)
}

fn flush(client: &mut Client, model: &Model, bundles: &mut Vec<Vec<Item>>) -> Result<(), String> {
    let bundles = std::mem::take(bundles);
    match bundles.iter().map(Vec::len).max() {
        None => Ok(()),
        Some(1) => seed::write_batch(client, model, bundles.into_iter().flatten()),
        Some(_) => seed::write_bundles(client, model, bundles.into_iter()),
    }
}

/// Reads the whole table and compares every item with its row.
fn compare(client: &mut Client, model: &Model, tables: &[TableRows], mut expected: Expected) -> Outcome {
    let mut equal: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut different, mut others) = (Vec::new(), 0u64);
    items::each(client, &model.table.name, |item| match expected.items.remove(&identity(model, item)) {
        Some(own) if own.content == content_hash(item) => *equal.entry(own.table).or_default() += 1,
        Some(ExpectedItem { table, line, key, .. }) => {
            different.push(format!("{}: the item {key} differs", tables[table].place(line)))
        }
        None => others += 1,
    })?;
    let missing = expected.items.values().map(|ExpectedItem { table, line, key, .. }| {
        format!("{}: the item {key} is missing", tables[*table].place(*line))
    });
    let mut missing: Vec<String> = missing.collect();
    missing.sort();
    for (number, table) in tables.iter().enumerate() {
        println!("{}: {} items equal", table.name, equal.get(&number).copied().unwrap_or_default());
    }
    different.iter().chain(&missing).take(NAMED).for_each(|difference| println!("  {difference}"));
    println!("{} differ, {} are missing, {others} others are in the table", different.len(), missing.len());
    Ok(if different.is_empty() && missing.is_empty() { FINE } else { FOUND })
}
