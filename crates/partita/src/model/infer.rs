//! `partita model infer`: proposes a model from items.

use super::arguments::Infer;
use super::{FINE, Outcome, items, questions};
use crate::client::Client;
use partita_design::draft::Draft;
use partita_design::exchange::table_definition::from_description;
use partita_design::inference::{Inference, KnownSchema};
use serde_json::{Value, json};

pub fn run(arguments: &Infer) -> Outcome {
    let known = KnownSchema {
        table: arguments.table.clone(),
        keys: arguments.keys.clone(),
        ..KnownSchema::default()
    };
    let draft = match &arguments.items {
        Some(path) => {
            let mut inference = Inference::new(known);
            let limit = arguments.limit.unwrap_or(usize::MAX);
            items::each_in_file(path, &arguments.table, limit, |item| inference.add(item, None))?;
            inference.finish()?
        }
        None => scan(arguments, known)?,
    };
    print!("{}", questions::settle(draft, &arguments.questions)?);
    Ok(FINE)
}

fn scan(arguments: &Infer, mut known: KnownSchema) -> Result<Draft, String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let description = items::describe(&mut client, &arguments.table)?;
    (known.keys, known.indexes) = from_description(&description);
    known.item_count = description["ItemCount"].as_u64();
    known.ttl = time_to_live(&mut client, &arguments.table);
    let mut inference = Inference::new(known);
    let mut start = Value::Null;
    let mut left = arguments.limit.unwrap_or(usize::MAX);
    loop {
        let (page, next) = items::page(&mut client, &arguments.table, &start)?;
        for item in page.into_iter().take(left) {
            inference.add(item, None)?;
            left -= 1;
        }
        start = next;
        if start.is_null() || left == 0 {
            return inference.finish();
        }
    }
}

/// The attribute that holds the expiry time, if the table has one.
fn time_to_live(client: &mut Client, table: &str) -> Option<String> {
    let response = client.call("DescribeTimeToLive", &json!({ "TableName": table })).ok()?;
    let description = &response["TimeToLiveDescription"];
    let enabled = description["TimeToLiveStatus"].as_str().is_some_and(|status| status.starts_with("ENABL"));
    description["AttributeName"].as_str().filter(|_| enabled).map(str::to_owned)
}
