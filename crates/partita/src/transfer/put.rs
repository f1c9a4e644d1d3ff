//! Items into a table, in batches. What the database leaves unprocessed is sent again, each time after a longer pause.

use crate::arguments::Endpoint;
use crate::client::{Client, Failure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Requests of one BatchWriteItem.
pub const BATCH_ITEMS: usize = 25;
/// A request may have 16 MB; escapes in JSON count.
const BATCH_BYTES: usize = 8 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

pub struct Putter {
    client: Client,
    table: String,
    keys: Vec<String>,
}

impl Putter {
    pub fn new(target: &Endpoint, table: &str, keys: &[String]) -> Result<Putter, String> {
        Ok(Putter { client: Client::new(target)?, table: table.to_owned(), keys: keys.to_vec() })
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
            // A batch may name an item once only; the later one stands.
            batch.insert(self.key(&item), item);
        }
        self.write(batch)
    }

    fn key(&self, item: &Value) -> Vec<String> {
        self.keys.iter().map(|name| item[name].to_string()).collect()
    }

    fn write(&mut self, batch: BTreeMap<Vec<String>, Value>) -> Result<(), String> {
        let puts: Vec<Value> =
            batch.into_values().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
        let mut open = puts;
        let mut pause = FIRST_PAUSE;
        while !open.is_empty() {
            let request = json!({ "RequestItems": { self.table.as_str(): open } });
            match self.client.call("BatchWriteItem", &request) {
                Ok(mut answer) => match answer["UnprocessedItems"][&self.table].take() {
                    Value::Array(left) if !left.is_empty() => open = left,
                    _ => return Ok(()),
                },
                Err(failure) if is_throttling(&failure) => {}
                Err(failure) => return Err(format!("table {}: {failure}", self.table)),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(())
    }
}

fn is_throttling(failure: &Failure) -> bool {
    ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
        .iter()
        .any(|kind| failure.is(kind))
}
