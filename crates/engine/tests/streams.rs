//! Streams: replaying one yields the table, whatever was written and however its shards changed. Also iterators, closed shards and
//! trimmed records.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_engine::stream::stream_options::StreamOptions;
use partita_store::Store;
use partita_store_embedded::{EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use support::Database;

/// Shards that roll after ten seconds or a few records, up to eight at a time.
fn short_lived_shards() -> StreamOptions {
    StreamOptions {
        shards: 2,
        shard_lifetime: Duration::from_secs(10),
        shard_records: 12,
        max_open_shards: 8,
        ..StreamOptions::default()
    }
}

impl<S: Store> Database<S> {
    async fn create_with_stream(&self, view: &str) -> String {
        let created = self
            .call(
                "CreateTable",
                json!({"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
                    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"},
                                             {"AttributeName": "sk", "AttributeType": "N"}],
                    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                                  {"AttributeName": "sk", "KeyType": "RANGE"}],
                    "StreamSpecification": {"StreamEnabled": true, "StreamViewType": view}}),
            )
            .await;
        created["TableDescription"]["LatestStreamArn"].as_str().unwrap().to_owned()
    }

    async fn put(&self, pk: u32, text: &str) {
        let item = json!({"pk": {"N": pk.to_string()}, "sk": {"N": "0"}, "text": {"S": text}});
        assert_eq!(self.call("PutItem", json!({"TableName": "Orders", "Item": item})).await, json!({}));
    }

    /// Returns all shards, read in pages of three.
    async fn shards(&self, arn: &str) -> Vec<Value> {
        let mut shards = Vec::new();
        let mut request = json!({"StreamArn": arn, "Limit": 3});
        loop {
            let page = &self.call("DescribeStream", request.clone()).await["StreamDescription"];
            shards.extend(page["Shards"].as_array().unwrap().iter().cloned());
            match page.get("LastEvaluatedShardId") {
                Some(last) => request["ExclusiveStartShardId"] = last.clone(),
                None => return shards,
            }
        }
    }

    async fn iterator(&self, arn: &str, shard: &Value, place: Value) -> Value {
        let mut request = place;
        request["StreamArn"] = arn.into();
        request["ShardId"] = shard["ShardId"].clone();
        self.call("GetShardIterator", request).await
    }

    async fn records_from(&self, arn: &str, shard: &Value, place: Value) -> Value {
        let iterator = self.iterator(arn, shard, place).await;
        self.call("GetRecords", json!({"ShardIterator": iterator["ShardIterator"]})).await
    }

    /// Returns all records of a shard, read in pages of `limit`, and whether it has ended.
    async fn read_shard(&self, arn: &str, shard: &Value, limit: u32) -> (Vec<Value>, bool) {
        let mut records = Vec::new();
        let mut iterator = self.iterator(arn, shard, json!({"ShardIteratorType": "TRIM_HORIZON"})).await;
        loop {
            let page = self
                .call("GetRecords", json!({"ShardIterator": iterator["ShardIterator"], "Limit": limit}))
                .await;
            let new = page["Records"].as_array().unwrap();
            records.extend(new.iter().cloned());
            match page.get("NextShardIterator") {
                None => return (records, true),
                Some(_) if new.is_empty() => return (records, false),
                Some(next) => iterator = json!({"ShardIterator": next}),
            }
        }
    }

    /// Returns all records, parents before children, as a correct consumer reads them.
    async fn read_all(&self, arn: &str, limit: u32) -> Vec<Value> {
        let shards = self.shards(arn).await;
        let mut seen = BTreeSet::new();
        let mut records = Vec::new();
        for shard in &shards {
            let parent = shard.get("ParentShardId").and_then(Value::as_str);
            assert!(parent.is_none_or(|parent| seen.contains(parent)), "a child is listed before its parent");
            seen.insert(shard["ShardId"].as_str().unwrap().to_owned());
            let (read, has_ended) = self.read_shard(arn, shard, limit).await;
            let range = &shard["SequenceNumberRange"];
            assert_eq!(has_ended, range.get("EndingSequenceNumber").is_some());
            for record in &read {
                let number = record["dynamodb"]["SequenceNumber"].as_str().unwrap();
                assert!(number >= range["StartingSequenceNumber"].as_str().unwrap());
                assert!(
                    range.get("EndingSequenceNumber").is_none_or(|last| number <= last.as_str().unwrap())
                );
            }
            records.extend(read);
        }
        records
    }

    async fn table(&self) -> Image {
        let mut items = Image::new();
        let mut request = json!({"TableName": "Orders"});
        loop {
            let page = self.call("Scan", request.clone()).await;
            for item in page["Items"].as_array().unwrap() {
                items.insert(key_of(item), item.clone());
            }
            match page.get("LastEvaluatedKey") {
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
                None => return items,
            }
        }
    }
}

/// Items by their keys.
type Image = BTreeMap<String, Value>;

fn key_of(item: &Value) -> String {
    format!("{}/{}", item["pk"]["N"], item["sk"]["N"])
}

/// Applies records to a table, and checks each against its state. Views without new images yield keys only.
fn replay(table: &mut Image, records: &[Value], view: &str) {
    let mut numbers = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for record in records {
        let body = &record["dynamodb"];
        assert_eq!(body["StreamViewType"], view);
        assert!(ids.insert(record["eventID"].to_string()), "an id came twice");
        let key = key_of(&body["Keys"]);
        let number = body["SequenceNumber"].as_str().unwrap().to_owned();
        let before = numbers.insert(key.clone(), number.clone());
        assert!(before.is_none_or(|before| before < number), "an item's records are out of order");
        let (old, new) = (body.get("OldImage"), body.get("NewImage"));
        let (shows_old, shows_new) = match view {
            "NEW_AND_OLD_IMAGES" => (true, true),
            "OLD_IMAGE" => (true, false),
            "NEW_IMAGE" => (false, true),
            _ => (false, false),
        };
        let event = record["eventName"].as_str().unwrap();
        assert_eq!(old.is_some(), shows_old && event != "INSERT");
        assert_eq!(new.is_some(), shows_new && event != "REMOVE");
        let known = table.get(&key);
        assert_eq!(known.is_some(), event != "INSERT", "{event} of {key}");
        if let Some(old) = old.filter(|_| shows_new) {
            assert_eq!(known, Some(old));
        }
        assert!(new.is_none_or(|new| known != Some(new)), "nothing changed");
        match event {
            "REMOVE" => table.remove(&key),
            _ => table.insert(key, new.unwrap_or(&body["Keys"]).clone()),
        };
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put { pk: u8, sk: u8, value: u8 },
    Update { pk: u8, sk: u8, value: u8 },
    Delete { pk: u8, sk: u8 },
    Batch(BTreeMap<(u8, u8), Option<u8>>),
    Transaction { items: BTreeMap<(u8, u8), Option<u8>>, holds: bool },
    Statement { pk: u8, sk: u8, value: u8 },
    Expire { pk: u8, sk: u8 },
    Wait(u64),
    Renew,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let many = || prop::collection::btree_map((0u8..9, 0u8..2), prop::option::of(0u8..3), 1..9);
    let step = prop_oneof![
        8 => (0u8..9, 0u8..2, 0u8..3).prop_map(|(pk, sk, value)| Step::Put { pk, sk, value }),
        4 => (0u8..9, 0u8..2, 0u8..3).prop_map(|(pk, sk, value)| Step::Update { pk, sk, value }),
        4 => (0u8..9, 0u8..2).prop_map(|(pk, sk)| Step::Delete { pk, sk }),
        3 => many().prop_map(Step::Batch),
        3 => (many(), any::<bool>()).prop_map(|(items, holds)| Step::Transaction { items, holds }),
        2 => (0u8..9, 0u8..2, 0u8..3).prop_map(|(pk, sk, value)| Step::Statement { pk, sk, value }),
        1 => (0u8..9, 0u8..2).prop_map(|(pk, sk)| Step::Expire { pk, sk }),
        2 => (1u64..15).prop_map(Step::Wait),
        1 => Just(Step::Renew),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..50)
}

fn key(pk: u8, sk: u8) -> Value {
    json!({"pk": {"N": pk.to_string()}, "sk": {"N": sk.to_string()}})
}

fn item(pk: u8, sk: u8, value: u8) -> Value {
    json!({"pk": {"N": pk.to_string()}, "sk": {"N": sk.to_string()}, "weight": {"N": value.to_string()}})
}

/// The request that a step sends, if it sends one.
fn request(step: &Step) -> Option<(&'static str, Value)> {
    let update = |pk: &u8, sk: &u8, update: &str, value: String| {
        let values = json!({":v": {"N": value}});
        (
            "UpdateItem",
            json!({"TableName": "Orders", "Key": key(*pk, *sk), "UpdateExpression": update,
            "ExpressionAttributeValues": values}),
        )
    };
    Some(match step {
        Step::Put { pk, sk, value } => {
            ("PutItem", json!({"TableName": "Orders", "Item": item(*pk, *sk, *value)}))
        }
        Step::Update { pk, sk, value } => update(pk, sk, "ADD tally :v", value.to_string()),
        Step::Delete { pk, sk } => ("DeleteItem", json!({"TableName": "Orders", "Key": key(*pk, *sk)})),
        Step::Batch(items) => {
            let write = |((pk, sk), value): (&(u8, u8), &Option<u8>)| match value {
                Some(value) => json!({"PutRequest": {"Item": item(*pk, *sk, *value)}}),
                None => json!({"DeleteRequest": {"Key": key(*pk, *sk)}}),
            };
            let writes: Vec<_> = items.iter().map(write).collect();
            ("BatchWriteItem", json!({"RequestItems": {"Orders": writes}}))
        }
        Step::Transaction { items, holds } => {
            let write = |((pk, sk), value): (&(u8, u8), &Option<u8>)| match value {
                Some(value) => json!({"Put": {"TableName": "Orders", "Item": item(*pk, *sk, *value)}}),
                None => json!({"Delete": {"TableName": "Orders", "Key": key(*pk, *sk)}}),
            };
            let mut writes: Vec<_> = items.iter().map(write).collect();
            // A check of an item that never exists decides whether the transaction is cancelled.
            let condition = if *holds { "attribute_not_exists(pk)" } else { "attribute_exists(pk)" };
            writes.push(json!({"ConditionCheck":
                {"TableName": "Orders", "Key": key(99, 0), "ConditionExpression": condition}}));
            ("TransactWriteItems", json!({"TransactItems": writes}))
        }
        Step::Statement { pk, sk, value } => {
            let statement = format!("UPDATE Orders SET weight = {value} WHERE pk = {pk} AND sk = {sk}");
            ("ExecuteStatement", json!({"Statement": statement}))
        }
        Step::Expire { pk, sk } => update(pk, sk, "SET expiresAt = :v", "1794700801".to_owned()),
        Step::Wait(_) | Step::Renew | Step::Reopen => return None,
    })
}

impl<S: Store> Database<S> {
    async fn take(&self, step: &Step) {
        let Some((operation, body)) = request(step) else {
            if let Step::Wait(seconds) = step {
                self.advance_seconds(*seconds);
                self.maintain().await;
            }
            return;
        };
        let answer = self.call(operation, body).await;
        let expected: &[&str] = match step {
            Step::Transaction { holds: false, .. } => &["TransactionCanceledException"],
            // The item may not exist.
            Step::Statement { .. } => &["none", "ConditionalCheckFailedException"],
            _ => &["none"],
        };
        assert!(expected.contains(&kind(&answer)), "{step:?}: {answer}");
    }

    async fn set_stream(&self, specification: Value) -> String {
        let changed = self
            .call("UpdateTable", json!({"TableName": "Orders", "StreamSpecification": specification}))
            .await;
        changed["TableDescription"]["LatestStreamArn"].as_str().unwrap().to_owned()
    }
}

/// Applies the steps, then replays all streams of the table.
async fn streams_rebuild_the_table<S: Store>(
    steps: Vec<Step>,
    view: &str,
    open: impl Fn() -> S,
    can_reopen: bool,
) {
    let mut database = Database::new(open()).with_streams(short_lived_shards());
    let mut arns = vec![database.create_with_stream(view).await];
    database
        .call(
            "UpdateTimeToLive",
            json!({"TableName": "Orders",
        "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "expiresAt"}}),
        )
        .await;
    for step in steps {
        match step {
            Step::Renew => {
                database.set_stream(json!({"StreamEnabled": false})).await;
                let specification = json!({"StreamEnabled": true, "StreamViewType": view});
                arns.push(database.set_stream(specification).await);
            }
            Step::Reopen if can_reopen => {
                database = database.reopen(&open).with_streams(short_lived_shards())
            }
            step => database.take(&step).await,
        }
    }
    let mut table = Image::new();
    for arn in &arns {
        for limit in [1_000, 3] {
            let mut copy = table.clone();
            let records = database.read_all(arn, limit).await;
            replay(&mut copy, &records, view);
            if limit == 3 {
                table = copy;
            }
        }
    }
    let mut stored = database.table().await;
    if !matches!(view, "NEW_IMAGE" | "NEW_AND_OLD_IMAGES") {
        let keys = |item: &Value| json!({"pk": item["pk"], "sk": item["sk"]});
        stored.values_mut().for_each(|item| *item = keys(item));
    }
    assert_eq!(table, stored);
}

fn views() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("NEW_AND_OLD_IMAGES"), Just("NEW_IMAGE"), Just("OLD_IMAGE"), Just("KEYS_ONLY")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn streams_rebuild_the_table_in_memory(steps in steps(), view in views()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(streams_rebuild_the_table(steps, view, MemoryStore::new, false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn streams_rebuild_the_table_on_disk(steps in steps(), view in views()) {
        let folder = tempfile::tempdir().unwrap();
        let open = || EmbeddedStore::open(folder.path(), Options::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(streams_rebuild_the_table(steps, view, open, true));
    }
}

fn kind(answer: &Value) -> &str {
    answer["__type"].as_str().and_then(|kind| kind.split('#').nth(1)).unwrap_or("none")
}

/// The shard that has records, if all are of one item.
async fn shard_with_records<S: Store>(database: &Database<S>, arn: &str) -> Value {
    for shard in database.shards(arn).await {
        if !database.read_shard(arn, &shard, 1_000).await.0.is_empty() {
            return shard;
        }
    }
    panic!("no shard has records")
}

fn texts(answer: &Value) -> Vec<&str> {
    let records = answer["Records"].as_array().unwrap_or_else(|| panic!("{answer}"));
    records.iter().map(|record| record["dynamodb"]["NewImage"]["text"]["S"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn iterators_start_at_the_requested_position() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("NEW_IMAGE").await;
    for text in ["a", "b", "c"] {
        database.put(1, text).await;
        database.advance_seconds(10);
    }
    let shard = shard_with_records(&database, &arn).await;
    let all = database.records_from(&arn, &shard, json!({"ShardIteratorType": "TRIM_HORIZON"})).await;
    assert_eq!(texts(&all), ["a", "b", "c"]);
    let number = &all["Records"][1]["dynamodb"]["SequenceNumber"];
    let from = |kind: &str| json!({"ShardIteratorType": kind, "SequenceNumber": number});
    assert_eq!(texts(&database.records_from(&arn, &shard, from("AT_SEQUENCE_NUMBER")).await), ["b", "c"]);
    assert_eq!(texts(&database.records_from(&arn, &shard, from("AFTER_SEQUENCE_NUMBER")).await), ["c"]);
    for (seconds, expected) in
        [(0, &["a", "b", "c"][..]), (5, &["b", "c"]), (10, &["b", "c"]), (20, &["c"]), (21, &[])]
    {
        let place = json!({"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 1_794_700_800 + seconds});
        assert_eq!(texts(&database.records_from(&arn, &shard, place).await), expected, "{seconds}");
    }
    let latest = database.iterator(&arn, &shard, json!({"ShardIteratorType": "LATEST"})).await;
    database.put(1, "d").await;
    assert_eq!(texts(&database.call("GetRecords", latest).await), ["d"]);
    let first = &shard["SequenceNumberRange"]["StartingSequenceNumber"];
    let place = json!({"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": first});
    assert_eq!(texts(&database.records_from(&arn, &shard, place).await), ["a", "b", "c", "d"]);
    let beyond =
        json!({"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": "100000000000000000999"});
    let answer = database.iterator(&arn, &shard, beyond).await;
    assert_eq!(
        (kind(&answer), &answer["message"]),
        ("ValidationException", &json!("Invalid SequenceNumber"))
    );
}

#[tokio::test]
async fn iterators_expire_and_cannot_be_changed() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("NEW_IMAGE").await;
    let shard = &database.shards(&arn).await[0];
    let iterator = database.iterator(&arn, shard, json!({"ShardIteratorType": "LATEST"})).await;
    let text = iterator["ShardIterator"].as_str().unwrap().to_owned();
    for at in 0..text.trim_end_matches('=').len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let answer = database.call("GetRecords", json!({"ShardIterator": changed})).await;
        assert_eq!(
            (kind(&answer), &answer["message"]),
            ("ValidationException", &json!("Invalid ShardIterator"))
        );
    }
    for cut in [0, 3, 8, text.len() - 4] {
        let answer = database.call("GetRecords", json!({"ShardIterator": text[..cut]})).await;
        assert_eq!(kind(&answer), "ValidationException", "{cut}");
    }
    database.advance_seconds(15 * 60);
    let page = database.call("GetRecords", iterator.clone()).await;
    assert_eq!(page["Records"], json!([]));
    database.advance_seconds(1);
    assert_eq!(kind(&database.call("GetRecords", iterator).await), "ExpiredIteratorException");
    let next = json!({"ShardIterator": page["NextShardIterator"]});
    assert_eq!(database.call("GetRecords", next).await["Records"], json!([]));
}

#[tokio::test]
async fn expiries_are_removals_by_the_service() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("KEYS_ONLY").await;
    let ttl = json!({"Enabled": true, "AttributeName": "expiresAt"});
    database.call("UpdateTimeToLive", json!({"TableName": "Orders", "TimeToLiveSpecification": ttl})).await;
    for step in [
        Step::Put { pk: 1, sk: 0, value: 1 },
        Step::Delete { pk: 1, sk: 0 },
        Step::Expire { pk: 1, sk: 0 },
        Step::Wait(10),
    ] {
        database.take(&step).await;
    }
    let shard = shard_with_records(&database, &arn).await;
    let records = database.read_shard(&arn, &shard, 10).await.0;
    let events: Vec<_> = records
        .iter()
        .map(|record| (record["eventName"].as_str().unwrap(), record["userIdentity"]["PrincipalId"].as_str()))
        .collect();
    let service = Some("dynamodb.amazonaws.com");
    assert_eq!(events, [("INSERT", None), ("REMOVE", None), ("INSERT", None), ("REMOVE", service)]);
    assert_eq!(records[3]["userIdentity"]["Type"], "Service");
    assert_eq!(records[3]["dynamodb"]["ApproximateCreationDateTime"], 1_794_700_810);
}

#[tokio::test]
async fn a_page_ends_before_a_megabyte() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("NEW_AND_OLD_IMAGES").await;
    for letter in ["a", "b", "c", "d"] {
        database.put(1, &letter.repeat(390_000)).await;
    }
    let shard = shard_with_records(&database, &arn).await;
    let mut iterator = database.iterator(&arn, &shard, json!({"ShardIteratorType": "TRIM_HORIZON"})).await;
    let mut pages = Vec::new();
    for _ in 0..4 {
        let page = database.call("GetRecords", iterator.clone()).await;
        pages.push(texts(&page).iter().map(|text| text[..1].to_owned()).collect::<String>());
        iterator = json!({"ShardIterator": page["NextShardIterator"]});
    }
    // The first has one image, the others two.
    assert_eq!(pages, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn old_records_are_trimmed_and_reading_them_is_an_error() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("NEW_IMAGE").await;
    database.put(1, "old").await;
    let shard = shard_with_records(&database, &arn).await;
    let number = database.read_shard(&arn, &shard, 10).await.0[0]["dynamodb"]["SequenceNumber"].clone();
    database.advance_seconds(24 * 3_600 - 60);
    database.put(1, "young").await;
    let at = json!({"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": number});
    let early = database.iterator(&arn, &shard, at.clone()).await;
    let horizon = database.iterator(&arn, &shard, json!({"ShardIteratorType": "TRIM_HORIZON"})).await;
    database.advance_seconds(61);
    database.maintain().await;
    assert_eq!(kind(&database.call("GetRecords", early).await), "TrimmedDataAccessException");
    let answer = database.iterator(&arn, &shard, at).await;
    assert_eq!(kind(&answer), "TrimmedDataAccessException");
    assert_eq!(answer["message"], "The data you are trying to access has been trimmed");
    assert_eq!(texts(&database.call("GetRecords", horizon).await), ["young"]);
    // The shard, which has since been closed, is removed a day later.
    database.advance_seconds(24 * 3_600 + 1);
    database.maintain().await;
    let latest = json!({"ShardIteratorType": "LATEST"});
    let answer = database.iterator(&arn, &shard, latest).await;
    assert_eq!(kind(&answer), "ResourceNotFoundException");
    assert_eq!(answer["message"], "Requested resource not found: Shard does not exist");
}

#[tokio::test]
async fn a_stream_outlives_its_table() {
    let database = Database::new(MemoryStore::new());
    let arn = database.create_with_stream("NEW_IMAGE").await;
    database.put(1, "a").await;
    database.call("DeleteTable", json!({"TableName": "Orders"})).await;
    // A table with the same name, created in the same millisecond, has another stream.
    let second = database.create_with_stream("NEW_IMAGE").await;
    assert_ne!(arn, second);
    let shard = shard_with_records(&database, &arn).await;
    let page = database.records_from(&arn, &shard, json!({"ShardIteratorType": "TRIM_HORIZON"})).await;
    assert_eq!((texts(&page), page.get("NextShardIterator")), (vec!["a"], None));
    assert!(shard["SequenceNumberRange"].get("EndingSequenceNumber").is_some());
    assert_eq!(database.read_all(&second, 10).await, Vec::<Value>::new());
    let listed = database.call("ListStreams", json!({"TableName": "Orders"})).await;
    assert_eq!(listed["Streams"].as_array().unwrap().len(), 2);
    let described = database.call("DescribeStream", json!({"StreamArn": arn})).await;
    assert_eq!(described["StreamDescription"]["StreamStatus"], "DISABLED");
}

/// A write that was requested before the stream existed, but decided after it, has a stream record.
#[tokio::test]
async fn no_change_is_missing_while_streams_are_enabled_and_disabled() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(EmbeddedStore::open(folder.path(), Options::default()).unwrap());
    database.create_with_stream("NEW_IMAGE").await;
    for round in 0..20 {
        database.set_stream(json!({"StreamEnabled": false})).await;
        let text = round.to_string();
        // Both are requested before either responds, and decided in this order.
        let specification = json!({"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"});
        let (arn, ()) = tokio::join!(database.set_stream(specification), database.put(1, &text));
        let records = json!({"Records": database.read_all(&arn, 10).await});
        assert_eq!(texts(&records), [text]);
    }
}
