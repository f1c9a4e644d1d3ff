//! A table and its stream: what the stream says leads to the table, and what it has once said it goes on saying.

use super::{Ask, Database, Scenario, exception, is_unclear, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = "Watched";
const CLIENTS: usize = 3;
const ITEMS: usize = 6;

#[derive(Default)]
pub struct StreamReader {
    /// The records of each shard that were read until now.
    seen: BTreeMap<String, Vec<Value>>,
    values: u64,
}

impl StreamReader {
    fn read_and_compare(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let shards = shards(database)?;
        let found: BTreeMap<String, Vec<Value>> = shards.iter().cloned().collect();
        for (shard, seen) in &self.seen {
            if !found.get(shard).is_some_and(|records| records.starts_with(seen)) {
                return Err(format!("of {} records that were read of {shard} some are no more", seen.len()));
            }
        }
        let table: BTreeMap<String, Value> =
            items(database, TABLE, None)?.into_iter().map(|item| (item["id"].to_string(), item)).collect();
        if replayed(shards.iter().flat_map(|(_, records)| records))? != table {
            return Err("the stream leads to another table".to_owned());
        }
        self.seen = found;
        Ok(())
    }
}

/// The table that the records lead to. Each must fit what those before it said.
fn replayed<'a>(records: impl Iterator<Item = &'a Value>) -> Result<BTreeMap<String, Value>, String> {
    let mut table: BTreeMap<String, Value> = BTreeMap::new();
    for record in records {
        let change = &record["dynamodb"];
        let key = change["Keys"]["id"].to_string();
        if table.get(&key) != change.get("OldImage") {
            return Err(format!("before {} the item was something else", change["SequenceNumber"]));
        }
        match change.get("NewImage") {
            Some(image) => table.insert(key, image.clone()),
            None => table.remove(&key),
        };
    }
    Ok(table)
}

/// All records of the stream, shard after shard.
fn shards(database: &mut dyn Database) -> Result<Vec<(String, Vec<Value>)>, String> {
    let described = database.ask("DescribeTable", &json!({"TableName": TABLE}).to_string());
    let arn = &described["Table"]["LatestStreamArn"];
    let stream = database.ask("DescribeStream", &json!({"StreamArn": arn}).to_string());
    let Some(shards) = stream["StreamDescription"]["Shards"].as_array() else {
        return Err(format!("the stream is described as {stream}"));
    };
    let mut all = Vec::new();
    for shard in in_order(shards) {
        let mut records = Vec::new();
        let request =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let mut iterator = database.ask("GetShardIterator", &request.to_string())["ShardIterator"].clone();
        while iterator.is_string() {
            let page = database.ask("GetRecords", &json!({"ShardIterator": iterator}).to_string());
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

    fn set_up(&self) -> Vec<Ask> {
        let table = json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}});
        vec![Ask::new("CreateTable", table)]
    }

    fn next(&mut self, _client: usize, random: &mut Random, _now: u64) -> Option<Ask> {
        self.values += 1;
        let item = |random: &mut Random| json!({"id": {"S": format!("i{}", random.below(ITEMS))}});
        let value = json!({"N": self.values.to_string()});
        Some(match random.below(4) {
            0 => Ask::new("DeleteItem", json!({"TableName": TABLE, "Key": item(random)})),
            1 => {
                let put = |key: Value| {
                    let mut item = key;
                    item["value"] = value.clone();
                    json!({"PutRequest": {"Item": item}})
                };
                let (one, other) = (json!({"id": {"S": "i0"}}), json!({"id": {"S": "i1"}}));
                Ask::new("BatchWriteItem", json!({"RequestItems": {TABLE: [put(one), put(other)]}}))
            }
            _ => {
                let mut item = item(random);
                item["value"] = value;
                Ask::new("PutItem", json!({"TableName": TABLE, "Item": item}))
            }
        })
    }

    fn answered(&mut self, _client: usize, answer: &Value, _begun: u64, _ended: u64) -> Result<(), String> {
        match exception(answer) {
            Some(_) if !is_unclear(answer) => Err(format!("a client is told {answer}")),
            _ => Ok(()),
        }
    }

    fn lost(&mut self, _client: usize, _begun: u64, _ended: u64) {}

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.read_and_compare(database)
    }

    fn look(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.read_and_compare(database)
    }

    fn largest_jump(&self) -> i64 {
        // Shards roll every few hours; records are kept for a day, which no run takes.
        1_800_000
    }
}
