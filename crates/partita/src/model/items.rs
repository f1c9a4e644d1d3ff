//! Reads the items of a table from a file, or page by page from a database.

mod documents;

use super::file;
use crate::client::Client;
use crate::progress_bar::ProgressBar;
use documents::Found;
use partita_design::exchange::item_json;
use partita_design::item::Item;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

/// What some programs write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const NOT_DYNAMODB_JSON: &str =
    "the items are not in DynamoDB JSON: each value names its type, as in {\"PK\": {\"S\": \"USER#1\"}}";

/// Reads the items of a file in DynamoDB JSON: a list, the output of `aws dynamodb scan`, an export, the input of
/// BatchWriteItem, of which those of one table, or one item per line; items in plain JSON are read too, and compressed files. No more than an item,
/// or one request, is kept.
pub fn each_in_file(
    path: &Path,
    table: &str,
    limit: usize,
    mut take: impl FnMut(Item) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = file::reader(path)?;
    let start = reader.fill_buf().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    if start.starts_with(BYTE_ORDER_MARK) {
        reader.consume(BYTE_ORDER_MARK.len());
    }
    let (mut left, mut is_enough) = (limit, false);
    let read = documents::each(reader, &mut |found| {
        let values = match found {
            Found::Item(value) => vec![value],
            Found::Document(object) => match batch(&object) {
                Some(tables) => of_table(tables, table)?,
                None => vec![Value::Object(object)],
            },
        };
        for value in values {
            is_enough = left == 0;
            if is_enough {
                return Err("enough".to_owned());
            }
            take(decoded(&value)?)?;
            left -= 1;
        }
        Ok(())
    });
    if is_enough { Ok(()) } else { read }
}

/// The items of a BatchWriteItem request by the name of their table.
fn batch(request: &serde_json::Map<String, Value>) -> Option<BTreeMap<String, Vec<Value>>> {
    let item = |put: &Value| put.get("PutRequest")?.get("Item").cloned();
    let items = |puts: &Value| puts.as_array()?.iter().map(item).collect::<Option<Vec<_>>>();
    let tables = request.iter().map(|(table, puts)| Some((table.clone(), items(puts)?)));
    let tables = tables.collect::<Option<BTreeMap<_, _>>>()?;
    tables.values().any(|items| !items.is_empty()).then_some(tables)
}

/// The items of the only table, or of the named one.
fn of_table(mut tables: BTreeMap<String, Vec<Value>>, table: &str) -> Result<Vec<Value>, String> {
    if tables.len() == 1 {
        return Ok(tables.into_values().flatten().collect());
    }
    let names = tables.keys().cloned().collect::<Vec<_>>().join(", ");
    tables
        .remove(table)
        .ok_or_else(|| format!("the file has items of several tables: {names}; choose one with --table"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use partita_exchange::compression::Compression;

    /// The number of items that are read from a file with this text.
    fn read(text: &str, table: &str) -> Result<usize, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.json");
        std::fs::write(&path, text).unwrap();
        let mut items = Vec::new();
        each_in_file(&path, table, usize::MAX, |item| {
            items.push(item);
            Ok(())
        })?;
        Ok(items.len())
    }

    #[test]
    fn items_of_several_tables_are_told_apart() {
        let put = r#"{"PutRequest":{"Item":{"PK":{"S":"1"}}}}"#;
        let batch = format!(r#"{{"Orders":[{put}],"Users":[{put},{put}]}}"#);
        assert_eq!(read(&batch, "Users"), Ok(2));
        assert!(read(&batch, "Table").unwrap_err().contains("Orders, Users"));
        assert_eq!(read(&format!(r#"{{"Orders":[{put}]}}"#), "Table"), Ok(1));
    }

    #[test]
    fn compressed_files_are_read() {
        let lines = b"{\"Item\":{\"PK\":{\"S\":\"1\"}}}\n{\"Item\":{\"PK\":{\"S\":\"2\"}}}\n";
        let folder = tempfile::tempdir().unwrap();
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let path = folder.path().join("export");
            std::fs::write(&path, compression.compress(lines.to_vec())).unwrap();
            let mut count = 0;
            let counted = each_in_file(&path, "T", usize::MAX, |_| {
                count += 1;
                Ok(())
            });
            assert_eq!((counted, count), (Ok(()), 2), "{compression:?}");
            let first = each_in_file(&path, "T", 1, |_| {
                count += 1;
                Ok(())
            });
            assert_eq!((first, count), (Ok(()), 3), "{compression:?}");
        }
    }

    #[test]
    fn a_mark_is_skipped_and_the_line_of_a_mistake_is_named() {
        assert_eq!(read("\u{feff}{\"PK\":{\"S\":\"1\"}}\n", "T"), Ok(1));
        let broken = read("{\"PK\":{\"S\":\"1\"}}\n\n{\"PK\":", "T").unwrap_err();
        assert!(broken.contains("at line 3 column"), "{broken}");
    }
}
