//! Writes items to a table in batches. Unprocessed items are retried with exponential backoff.

use crate::arguments::Endpoint;
use crate::client::{Client, Failure};
use partita_value::Number;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most requests of one BatchWriteItem.
pub const BATCH_ITEMS: usize = 25;
/// A request may have 16 MB, including JSON escapes.
const BATCH_BYTES: usize = 8 << 20;
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(10);

pub struct BatchWriter {
    client: Client,
    table: String,
    keys: Vec<String>,
}

impl BatchWriter {
    pub fn new(target: &Endpoint, table: &str, keys: &[String]) -> Result<BatchWriter, String> {
        Ok(BatchWriter { client: Client::new(target)?, table: table.to_owned(), keys: keys.to_vec() })
    }

    pub fn put(&mut self, items: Vec<Value>) -> Result<(), String> {
        let mut batch = BTreeMap::new();
        let mut bytes = 0;
        for item in items {
            let size = item.to_string().len();
            if batch.len() == BATCH_ITEMS || bytes + size > BATCH_BYTES {
                self.write(std::mem::take(&mut batch))?;
                bytes = 0;
            }
            bytes += size;
            // A batch may contain each key only once; the later item wins.
            batch.insert(self.key(&item), item);
        }
        self.write(batch)
    }

    fn key(&self, item: &Value) -> Vec<String> {
        self.keys.iter().map(|name| key_text(&item[name])).collect()
    }

    fn write(&mut self, batch: BTreeMap<Vec<String>, Value>) -> Result<(), String> {
        let mut unprocessed: Vec<Value> =
            batch.into_values().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
        let mut backoff = INITIAL_BACKOFF;
        while !unprocessed.is_empty() {
            let request = json!({ "RequestItems": { self.table.as_str(): unprocessed } });
            match self.client.call("BatchWriteItem", &request) {
                Ok(mut response) => match response["UnprocessedItems"][&self.table].take() {
                    Value::Array(left) if !left.is_empty() => unprocessed = left,
                    _ => return Ok(()),
                },
                Err(failure) if is_throttling(&failure) => {}
                Err(failure) => return Err(format!("table {}: {failure}", self.table)),
            }
            std::thread::sleep(backoff);
            backoff = (backoff * 2).min(MAX_BACKOFF);
        }
        Ok(())
    }
}

/// A text that is equal for equal values: a number can be written in several ways.
fn key_text(value: &Value) -> String {
    let number = value["N"].as_str().and_then(|digits| Number::parse(digits).ok());
    number.map_or_else(|| value.to_string(), |number| number.to_string())
}

fn is_throttling(failure: &Failure) -> bool {
    ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
        .iter()
        .any(|kind| failure.is(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_is_the_same_key() {
        let number = |digits: &str| key_text(&json!({ "N": digits }));
        assert!(["1.0", "01", "10E-1", "+1"].iter().all(|digits| number(digits) == number("1")));
        let others =
            [json!({ "S": "1" }), json!({ "S": "1.0" }), json!({ "N": "2" }), json!({ "B": "AQ==" })];
        assert!(others.iter().all(|other| key_text(other) != number("1")));
        assert_ne!(number("no number"), number("none either"));
    }
}
