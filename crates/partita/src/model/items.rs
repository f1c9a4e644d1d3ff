//! Reads the items of a table from a file, or page by page from a database.

use super::file;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use partita_design::exchange::item_json;
use partita_design::item::Item;
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::path::Path;

const NOT_DYNAMODB_JSON: &str =
    "the items are not in DynamoDB JSON: each value names its type, as in {\"PK\": {\"S\": \"USER#1\"}}";

/// Reads the items of a file in DynamoDB JSON: a list, the output of `aws dynamodb scan`, an export, the input of
/// BatchWriteItem, or one item per line; items in plain JSON are read too. Only a file of lines is read
/// without keeping it.
pub fn each_in_file(
    path: &Path,
    limit: usize,
    mut take: impl FnMut(Item) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = file::reader(path)?;
    let mut first = String::new();
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    while first.trim().is_empty() {
        first.clear();
        if reader.read_line(&mut first).map_err(failed)? == 0 {
            return Ok(());
        }
    }
    let of_line = |line: &str| {
        serde_json::from_str::<Value>(line).map_err(|error| format!("the items are not JSON: {error}"))
    };
    let is_item =
        |object: &serde_json::Map<String, Value>| !object.contains_key("Items") && batch(object).is_none();
    let is_line =
        serde_json::from_str::<Value>(&first).is_ok_and(|value| value.as_object().is_some_and(is_item));
    if is_line {
        let lines = std::iter::once(Ok(first)).chain(reader.lines());
        for line in lines.take(limit) {
            let line = line.map_err(failed)?;
            if !line.trim().is_empty() {
                take(decoded(&of_line(&line)?)?)?;
            }
        }
        return Ok(());
    }
    let mut text = first;
    reader.read_to_string(&mut text).map_err(failed)?;
    let values = match of_line(&text)? {
        Value::Array(values) => values,
        Value::Object(mut object) => match object.remove("Items") {
            Some(Value::Array(values)) => values,
            _ => batch(&object).unwrap_or_else(|| vec![Value::Object(object)]),
        },
        _ => return Err("the items are not JSON objects".to_owned()),
    };
    values.iter().take(limit).try_for_each(|value| take(decoded(value)?))
}

/// The items of a BatchWriteItem request: puts by the name of their table.
fn batch(request: &serde_json::Map<String, Value>) -> Option<Vec<Value>> {
    let puts = request.values().map(|puts| puts.as_array()).collect::<Option<Vec<_>>>()?;
    let item = |put: &Value| put.get("PutRequest")?.get("Item").cloned();
    puts.into_iter().flatten().map(item).collect::<Option<Vec<_>>>().filter(|items| !items.is_empty())
}

/// An item, or the `Item` of a line of an export. An item without any type is plain JSON.
fn decoded(value: &Value) -> Result<Item, String> {
    if !value.is_object() {
        return Err("the items are not JSON objects".to_owned());
    }
    let exported = value.get("Item").filter(|_| value.as_object().is_some_and(|object| object.len() == 1));
    exported
        .and_then(item_json::decode)
        .or_else(|| item_json::decode(value))
        .or_else(|| item_json::decode_plain(value))
        .ok_or_else(|| NOT_DYNAMODB_JSON.to_owned())
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
    let items: Option<Vec<Item>> =
        page["Items"].as_array().into_iter().flatten().map(item_json::decode).collect();
    let items = items.ok_or_else(|| format!("the Scan of {table} does not return DynamoDB JSON"))?;
    Ok((items, page["LastEvaluatedKey"].clone()))
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
