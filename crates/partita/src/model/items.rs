//! Reads the items of a table from a file, or page by page from a database.

use super::file;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use serde_json::{Map, Value, json};
use std::path::Path;

pub type Item = Map<String, Value>;

/// Items in DynamoDB JSON: a list, the output of `aws dynamodb scan`, or one item per line.
pub fn from_file(path: &Path, limit: usize) -> Result<Vec<Item>, String> {
    let text = file::text(path)?;
    let whole: Result<Value, _> = serde_json::from_str(&text);
    let values: Vec<Value> = match whole {
        Ok(Value::Array(values)) => values,
        Ok(Value::Object(mut object)) => match object.remove("Items") {
            Some(Value::Array(values)) => values,
            _ => vec![Value::Object(object)],
        },
        _ => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let parsed: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            parsed.map_err(|error| format!("the items are not JSON: {error}"))?
        }
    };
    let items: Option<Vec<_>> =
        values.into_iter().take(limit).map(|value| value.as_object().cloned()).collect();
    let items = items.ok_or("the items are not JSON objects")?;
    let typed = |value: &Value| value.as_object().is_some_and(|object| object.len() == 1);
    if items.iter().any(|item| !item.values().all(typed)) {
        return Err("the items are not in DynamoDB JSON: each value names its type, as in {\"PK\": {\"S\": \"USER#1\"}}".to_owned());
    }
    Ok(items)
}

/// The `Table` of DescribeTable.
pub fn describe(client: &mut Client, table: &str) -> Result<Value, String> {
    let response = client.call("DescribeTable", &json!({ "TableName": table }));
    response.map(|response| response["Table"].clone()).map_err(|failure| failure.to_string())
}

/// One page of a table, and the start of the next; null if there is none.
pub fn page(client: &mut Client, table: &str, start: &Value) -> Result<(Vec<Item>, Value), String> {
    let mut request = json!({ "TableName": table, "ConsistentRead": true });
    if !start.is_null() {
        request["ExclusiveStartKey"] = start.clone();
    }
    let page = client.call("Scan", &request).map_err(|failure| failure.to_string())?;
    let items = page["Items"].as_array().into_iter().flatten().filter_map(|item| item.as_object().cloned());
    Ok((items.collect(), page["LastEvaluatedKey"].clone()))
}

/// Reads all items of a table, with a progress bar.
pub fn each(client: &mut Client, table: &str, mut take: impl FnMut(&Item)) -> Result<(), String> {
    let count = describe(client, table)?["ItemCount"].as_u64().unwrap_or_default();
    let progress = ProgressBar::new(count);
    let mut start = Value::Null;
    loop {
        let (items, next) = page(client, table, &start)?;
        items.iter().for_each(&mut take);
        progress.advance(items.len() as u64);
        start = next;
        if start.is_null() {
            progress.finish();
            return Ok(());
        }
    }
}
