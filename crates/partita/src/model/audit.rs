//! `partita model audit`: checks a table's items against a model.

use super::arguments::{Audit, PlainFormat};
use super::{FINE, FOUND, Outcome, file, items};
use crate::client::Client;
use partita_design::inspection::{Broken, Inspection};
use serde_json::json;
use std::collections::BTreeMap;

pub fn run(arguments: &Audit) -> Outcome {
    let model = file::model(&arguments.model)?;
    let mut inspection = Inspection::new(&model);
    match &arguments.items {
        Some(path) => items::from_file(path, usize::MAX)?.iter().for_each(|item| inspection.add(item)),
        None => {
            let table = arguments.table.as_deref().unwrap_or(&model.table.name);
            let mut client = Client::new(&arguments.endpoint)?;
            items::each(&mut client, table, |item| inspection.add(item))?;
        }
    }
    let (items, broken) = inspection.finish();
    match arguments.format {
        PlainFormat::Text => print(items, &broken),
        PlainFormat::Json => {
            let rules = broken.iter().map(
                |(rule, broken)| json!({ "rule": rule, "items": broken.items, "examples": broken.examples }),
            );
            println!("{}", json!({ "items": items, "broken": rules.collect::<Vec<_>>() }));
        }
    }
    Ok(if broken.is_empty() { FINE } else { FOUND })
}

fn print(items: u64, broken: &BTreeMap<&'static str, Broken>) {
    for (rule, Broken { items, examples }) in broken {
        println!("{rule}: {items}");
        examples.iter().for_each(|example| println!("  {example}"));
        if *items > examples.len() as u64 {
            println!("  … and {} more", items - examples.len() as u64);
        }
    }
    let total: u64 = broken.values().map(|broken| broken.items).sum();
    println!("{items} items read, {total} violations");
}
