//! A table and its stream: replaying the stream yields the table, and records that were read once stay.

use super::{Database, Request, Scenario, exception, is_outcome_unknown, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = "Watched";
const CLIENTS: usize = 3;
const ITEMS: usize = 6;

#[derive(Default)]
pub struct StreamReader {
    /// The records of each shard that were read so far.
    seen: BTreeMap<String, Vec<Value>>,
    values: u64,
}

impl StreamReader {
    fn read_and_compare(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let shards = shards(database)?;
        let found: BTreeMap<String, Vec<Value>> = shards.iter().cloned().collect();
        for (shard, seen) in &self.seen {
            if !found.get(shard).is_some_and(|records| records.starts_with(seen)) {
                return Err(format!("some of {} records read from {shard} are gone", seen.len()));
            }
        }
        let table: BTreeMap<String, Value> =
            items(database, TABLE, None)?.into_iter().map(|item| (item["id"].to_string(), item)).collect();
        if replayed(shards.iter().flat_map(|(_, records)| records))? != table {
            return Err("replaying the stream yields another table".to_owned());
        }
        self.seen = found;
        Ok(())
    }
}

/// The table that results from the records. Each must match those before it.
fn replayed<'a>(records: impl Iterator<Item = &'a Value>) -> Result<BTreeMap<String, Value>, String> {
    let mut table: BTreeMap<String, Value> = BTreeMap::new();
    for record in records {
        let change = &record["dynamodb"];
        let key = change["Keys"]["id"].to_string();
        if table.get(&key) != change.get("OldImage") {
            return Err(format!("the old image of {} is wrong", change["SequenceNumber"]));
        }
        match change.get("NewImage") {
            Some(image) => table.insert(key, image.clone()),
            None => table.remove(&key),
        };
    }
    Ok(table)
}

/// All records of the stream, shard by shard.
fn shards(database: &mut dyn Database) -> Result<Vec<(String, Vec<Value>)>, String> {
    let described = database.call("DescribeTable", &json!({"TableName": TABLE}).to_string());
    let arn = &described["Table"]["LatestStreamArn"];
    let stream = database.call("DescribeStream", &json!({"StreamArn": arn}).to_string());
    let Some(shards) = stream["StreamDescription"]["Shards"].as_array() else {
        return Err(format!("the stream is described as {stream}"));
    };
    let mut all = Vec::new();
    for shard in in_order(shards) {
        let mut records = Vec::new();
        let request =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let mut iterator = database.call("GetShardIterator", &request.to_string())["ShardIterator"].clone();
        while iterator.is_string() {
            let page = database.call("GetRecords", &json!({"ShardIterator": iterator}).to_string());
            let Some(some) = page["Records"].as_array() else { return Err(format!("records are {page}")) };
            if some.is_empty() {
                break;
            }
            records.extend(some.iter().cloned());
            iterator = page["NextShardIterator"].clone();
        }
        all.push((shard["ShardId"].to_string(), records));
    }
    Ok(all)
}

/// Parents before their children.
fn in_order(shards: &[Value]) -> Vec<&Value> {
    let known: BTreeSet<&str> = shards.iter().filter_map(|shard| shard["ShardId"].as_str()).collect();
    let mut read: Vec<&Value> = Vec::new();
    while read.len() < shards.len() {
        let done: BTreeSet<&str> = read.iter().filter_map(|shard| shard["ShardId"].as_str()).collect();
        let next = shards.iter().find(|shard| {
            let parent = shard["ParentShardId"].as_str().filter(|parent| known.contains(parent));
            !shard["ShardId"].as_str().is_some_and(|id| done.contains(id))
                && parent.is_none_or(|parent| done.contains(parent))
        });
        match next {
            Some(shard) => read.push(shard),
            None => break,
        }
    }
    read
}

impl Scenario for StreamReader {
    fn clients(&self) -> usize {
        CLIENTS
    }

    fn set_up(&self) -> Vec<Request> {
        let table = json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}});
        vec![Request::new("CreateTable", table)]
    }

    fn next(&mut self, _client: usize, random: &mut Random, _now: u64) -> Option<Request> {
        self.values += 1;
        let item = |random: &mut Random| json!({"id": {"S": format!("i{}", random.below(ITEMS))}});
        let value = json!({"N": self.values.to_string()});
        Some(match random.below(4) {
            0 => Request::new("DeleteItem", json!({"TableName": TABLE, "Key": item(random)})),
            1 => {
                let put = |key: Value| {
                    let mut item = key;
                    item["value"] = value.clone();
                    json!({"PutRequest": {"Item": item}})
                };
                let (one, other) = (json!({"id": {"S": "i0"}}), json!({"id": {"S": "i1"}}));
                Request::new("BatchWriteItem", json!({"RequestItems": {TABLE: [put(one), put(other)]}}))
            }
            _ => {
                let mut item = item(random);
                item["value"] = value;
                Request::new("PutItem", json!({"TableName": TABLE, "Item": item}))
            }
        })
    }

    fn on_response(
        &mut self,
        _client: usize,
        answer: &Value,
        _started: u64,
        _ended: u64,
    ) -> Result<(), String> {
        match exception(answer) {
            Some(_) if !is_outcome_unknown(answer) => Err(format!("a client receives {answer}")),
            _ => Ok(()),
        }
    }

    fn on_lost(&mut self, _client: usize, _started: u64, _ended: u64) {}

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.read_and_compare(database)
    }

    fn observe(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.read_and_compare(database)
    }

    fn max_clock_jump(&self) -> i64 {
        // Shards roll every few hours; records are retained for a day, which no run takes.
        1_800_000
    }
}
