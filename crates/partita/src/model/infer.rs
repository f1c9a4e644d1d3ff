//! `partita model infer`: proposes a model from items.

use super::arguments::Infer;
use super::items::Item;
use super::{FINE, Outcome, items};
use crate::client::Client;
use partita_design::definition::from_description;
use partita_design::emission;
use partita_design::inference::{Known, infer};
use serde_json::Value;

pub fn run(arguments: &Infer) -> Outcome {
    let mut known =
        Known { table: arguments.table.clone(), keys: arguments.keys.clone(), indexes: Vec::new() };
    let items = match &arguments.items {
        Some(path) => items::from_file(path, arguments.limit)?,
        None => scan(arguments, &mut known)?,
    };
    let model = infer(&items, &known)?;
    let comment = format!(
        "Proposed from {} items. Correct the names and types, add the patterns and writes that are missing,\nthen: partita model check",
        items.len()
    );
    print!("{}", emission::toml(&model, &comment));
    Ok(FINE)
}

fn scan(arguments: &Infer, known: &mut Known) -> Result<Vec<Item>, String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let description = items::describe(&mut client, &arguments.table)?;
    (known.keys, known.indexes) = from_description(&description);
    let mut found = Vec::new();
    let mut start = Value::Null;
    while found.len() < arguments.limit {
        let (page, next) = items::page(&mut client, &arguments.table, &start)?;
        found.extend(page);
        start = next;
        if start.is_null() {
            break;
        }
    }
    found.truncate(arguments.limit);
    Ok(found)
}
