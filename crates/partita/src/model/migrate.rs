//! `partita model migrate`: a table from one version of a model to the next.
//!
//! Without `--apply` nothing is written: the items are read and counted. With it, missing indexes are added, items are
//! rewritten page by page, and the whole is read again to verify it. Every step may be repeated: what is done is left alone, and
//! the checkpoint says where to go on. The way back is the same command with the models exchanged.

use super::arguments::Migrate;
use super::client::Client;
use super::progress::Progress;
use super::{FINE, FOUND, Outcome, file, items};
use partita_design::Model;
use partita_design::definition::create_table;
use partita_design::estimate::write_units;
use partita_design::migration::{Rewrite, rewrite};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
struct Tally {
    kept: u64,
    put: u64,
    moved: u64,
    units: u64,
    unknown: BTreeMap<String, u64>,
}

struct Migration<'a> {
    arguments: &'a Migrate,
    old: Model,
    new: Model,
    table: String,
    client: Client,
}

pub fn run(arguments: &Migrate) -> Outcome {
    let (old, new) = (file::model(&arguments.old)?, file::model(&arguments.new)?);
    if old.table.keys != new.table.keys {
        return Err(
            "the two versions have different table keys: make a new table, and load it with the items"
                .to_owned(),
        );
    }
    let table = arguments.table.clone().unwrap_or_else(|| new.table.name.clone());
    let client = Client::new(&arguments.endpoint)?;
    let mut migration = Migration { arguments, old, new, table, client };
    if !arguments.apply {
        let tally = migration.pass(false)?;
        println!("dry run: nothing was written; --apply does it");
        return Ok(tally.print());
    }
    migration.add_indexes()?;
    migration.pass(true)?.print();
    let tally = migration.pass(false)?;
    let left = tally.put + tally.moved;
    println!("verified: {} items are as the new model wants them, {left} are not", tally.kept);
    Ok(if left > 0 || !tally.unknown.is_empty() { FOUND } else { FINE })
}

impl Tally {
    fn print(&self) -> u8 {
        println!("{:>10} items stay as they are", self.kept);
        println!("{:>10} items get other index keys or another type", self.put);
        println!("{:>10} items move to another primary key", self.moved);
        println!("{:>10} write units, indexes not included", self.units);
        for (reason, items) in &self.unknown {
            println!("{items:>10} items are left alone: {reason}");
        }
        if self.unknown.is_empty() { FINE } else { FOUND }
    }
}

impl Migration<'_> {
    fn call(&mut self, operation: &str, request: &Value) -> Result<Value, String> {
        self.client.call(operation, request).map_err(|failure| failure.to_string())
    }

    /// Reads all items; rewrites them if `apply`.
    fn pass(&mut self, apply: bool) -> Result<Tally, String> {
        let description = items::describe(&mut self.client, &self.table)?;
        let progress = Progress::new(description["ItemCount"].as_u64().unwrap_or_default());
        let mut tally = Tally::default();
        let mut start = if apply { self.checkpoint() } else { Value::Null };
        loop {
            let (page, next) = items::page(&mut self.client, &self.table, &start)?;
            for item in &page {
                self.one(item, apply, &mut tally)?;
                progress.advance(1);
            }
            start = next;
            if apply {
                self.save_checkpoint(&start)?;
            }
            if start.is_null() {
                break;
            }
        }
        progress.finish();
        Ok(tally)
    }

    fn one(&mut self, item: &Map<String, Value>, apply: bool, tally: &mut Tally) -> Result<(), String> {
        let units = write_units(Value::Object(item.clone()).to_string().len() as u64);
        match rewrite(&self.old, &self.new, item) {
            Rewrite::Keep => tally.kept += 1,
            Rewrite::Unknown(reason) => *tally.unknown.entry(reason).or_default() += 1,
            Rewrite::Put(made) => {
                tally.put += 1;
                tally.units += units;
                if apply {
                    self.change(item, &made)?;
                }
            }
            Rewrite::Move { put, delete } => {
                tally.moved += 1;
                tally.units += units * 4;
                if apply {
                    self.relocate(&put, &delete)?;
                }
            }
        }
        Ok(())
    }

    /// Only what differs is updated, so that what the application changes at the same time stays.
    fn change(&mut self, item: &Map<String, Value>, made: &Map<String, Value>) -> Result<(), String> {
        let (mut names, mut values) = (Map::new(), Map::new());
        let (mut set, mut remove) = (Vec::new(), Vec::new());
        for (number, name) in
            item.keys().chain(made.keys().filter(|name| !item.contains_key(*name))).enumerate()
        {
            if item.get(name) == made.get(name) {
                continue;
            }
            names.insert(format!("#n{number}"), json!(name));
            match made.get(name) {
                Some(value) => {
                    values.insert(format!(":v{number}"), value.clone());
                    set.push(format!("#n{number} = :v{number}"));
                }
                None => remove.push(format!("#n{number}")),
            }
        }
        names.insert("#pk".to_owned(), json!(self.old.table.keys[0]));
        let part = |word: &str, list: &[String]| {
            if list.is_empty() { String::new() } else { format!("{word} {} ", list.join(", ")) }
        };
        let key: Map<String, Value> = self
            .old
            .table
            .keys
            .iter()
            .filter_map(|key| Some((key.clone(), item.get(key)?.clone())))
            .collect();
        let mut request = json!({
            "TableName": self.table,
            "Key": key,
            "UpdateExpression": format!("{}{}", part("SET", &set), part("REMOVE", &remove)),
            "ConditionExpression": "attribute_exists(#pk)",
            "ExpressionAttributeNames": names,
        });
        if !values.is_empty() {
            request["ExpressionAttributeValues"] = json!(values);
        }
        match self.client.call("UpdateItem", &request) {
            // The application deleted it meanwhile.
            Err(failure) if failure.is("ConditionalCheckFailedException") => Ok(()),
            outcome => outcome.map(|_| ()).map_err(|failure| failure.to_string()),
        }
    }

    /// The new item comes and the old one goes in one transaction.
    fn relocate(&mut self, put: &Map<String, Value>, delete: &Map<String, Value>) -> Result<(), String> {
        let names = json!({ "#pk": self.old.table.keys[0] });
        let request = json!({ "TransactItems": [
            // What is already there is never overwritten; the verification names what could not move.
            { "Put": {
                "TableName": self.table, "Item": put,
                "ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": names,
            } },
            { "Delete": {
                "TableName": self.table, "Key": delete,
                "ConditionExpression": "attribute_exists(#pk)", "ExpressionAttributeNames": names,
            } },
        ]});
        match self.client.call("TransactWriteItems", &request) {
            Err(failure) if failure.is("TransactionCanceledException") => Ok(()),
            outcome => outcome.map(|_| ()).map_err(|failure| failure.to_string()),
        }
    }

    /// Adds the new model's global indexes that the table does not have, one after another.
    fn add_indexes(&mut self) -> Result<(), String> {
        let wanted = create_table(&self.new);
        for index in wanted["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default() {
            let table = self.settled()?;
            let has = |other: &Value| other["IndexName"] == index["IndexName"];
            if table["GlobalSecondaryIndexes"].as_array().is_some_and(|indexes| indexes.iter().any(has)) {
                continue;
            }
            println!("adding index {}", index["IndexName"].as_str().unwrap_or_default());
            let request = json!({
                "TableName": self.table,
                "AttributeDefinitions": wanted["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": [{ "Create": index }],
            });
            self.call("UpdateTable", &request)?;
        }
        self.settled().map(|_| ())
    }

    /// Waits until the table and its indexes are active.
    fn settled(&mut self) -> Result<Value, String> {
        loop {
            let table = items::describe(&mut self.client, &self.table)?;
            let indexes = table["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
            if table["TableStatus"] == "ACTIVE"
                && indexes.iter().all(|index| index["IndexStatus"] == "ACTIVE")
            {
                return Ok(table);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn checkpoint(&self) -> Value {
        let text = self.arguments.checkpoint.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
    }

    fn save_checkpoint(&self, start: &Value) -> Result<(), String> {
        let Some(path) = &self.arguments.checkpoint else { return Ok(()) };
        let outcome = if start.is_null() && path.exists() {
            std::fs::remove_file(path)
        } else if start.is_null() {
            Ok(())
        } else {
            std::fs::write(path, start.to_string())
        };
        outcome.map_err(|error| format!("cannot keep the checkpoint {}: {error}", path.display()))
    }
}
