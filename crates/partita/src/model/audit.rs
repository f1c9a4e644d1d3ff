//! `partita model audit`: checks a table's items against a model.

use super::arguments::{Audit, PlainFormat};
use super::{FINE, FOUND, Outcome, file, items};
use crate::client::Client;
use partita_design::audit::table::{EXAMPLES, RuleViolations, TableAudit};
use partita_design::formatting::{plural, printable};
use serde_json::json;
use std::collections::BTreeMap;

pub fn run(arguments: &Audit) -> Outcome {
    let model = file::model(&arguments.model)?;
    let mut inspection = match arguments.format {
        PlainFormat::Text => TableAudit::new(&model),
        PlainFormat::Json => TableAudit::with_all_messages(&model),
    };
    let table = arguments.table.as_deref().unwrap_or(&model.table.name);
    match &arguments.items {
        Some(path) => items::each_in_file(path, table, usize::MAX, |item| {
            inspection.add(&item);
            Ok(())
        })?,
        None => {
            let mut client = Client::new(&arguments.endpoint)?;
            items::each(&mut client, table, |item| inspection.add(item))?;
        }
    }
    let (items, broken) = inspection.finish();
    match arguments.format {
        PlainFormat::Text => print(items, &broken),
        PlainFormat::Json => {
            let rules = broken.iter().map(|(rule, RuleViolations { items, examples })| {
                let first = &examples[..examples.len().min(EXAMPLES)];
                json!({ "rule": rule, "items": items, "examples": first, "violations": examples })
            });
            println!("{}", json!({ "items": items, "broken": rules.collect::<Vec<_>>() }));
        }
    }
    Ok(if broken.is_empty() { FINE } else { FOUND })
}

pub fn print(items: u64, broken: &BTreeMap<&'static str, RuleViolations>) {
    for (rule, RuleViolations { items, examples }) in broken {
        println!("{rule}: {items}");
        examples.iter().for_each(|example| println!("  {}", printable(example)));
        if *items > examples.len() as u64 {
            println!("  … and {} more", items - examples.len() as u64);
        }
    }
    let total: u64 = broken.values().map(|broken| broken.items).sum();
    println!("{} read, {}", plural(items, "item"), plural(total, "violation"));
}
