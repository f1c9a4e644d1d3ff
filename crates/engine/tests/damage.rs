//! Damage is contained: a damaged item is reported, and can be overwritten and deleted; damaged entries and records are repaired or
//! skipped.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/damaging_store.rs"]
mod damaging_store;
use crate::support;

use damaging_store::DamagingStore;
use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_engine::maintenance::Progress;
use partita_engine::verify::{FindingKind, Pace, repair};
use partita_store::{Direction, KeyRange, Snapshot, Store};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use support::Database;

/// Runs a request that must fail because of damage, and returns the message.
async fn fails(database: &Database<DamagingStore>, operation: &str, body: Value) -> String {
    let answer = database.call(operation, body).await;
    let kind = answer["__type"].as_str().unwrap_or_default();
    assert!(kind.ends_with("InternalServerError"), "{operation}: {answer}");
    answer["message"].as_str().unwrap_or_default().to_owned()
}

fn item(number: u32, group: &str) -> Value {
    json!({
        "pk": {"S": "a"}, "sk": {"N": number.to_string()}, "group": {"S": group},
        "until": {"N": (1_800_000_000 + number).to_string()},
    })
}

fn key(number: u32) -> Value {
    json!({"pk": {"S": "a"}, "sk": {"N": number.to_string()}})
}

/// A table of ten items with both kinds of index, expiry, a stream and a history. The fourth item is damaged.
async fn damaged() -> (DamagingStore, Database<DamagingStore>) {
    let store = DamagingStore::default();
    let database = Database::new(store.clone());
    let element = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
    let all = json!({"ProjectionType": "ALL"});
    let request = json!({
        "TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [definition("pk", "S"), definition("sk", "N"), definition("group", "S")],
        "KeySchema": [element("pk", "HASH"), element("sk", "RANGE")],
        "LocalSecondaryIndexes": [
            {"IndexName": "local", "KeySchema": [element("pk", "HASH"), element("group", "RANGE")], "Projection": all},
        ],
        "GlobalSecondaryIndexes": [
            {"IndexName": "byGroup", "KeySchema": [element("group", "HASH")], "Projection": all},
        ],
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    });
    database.succeed("CreateTable", request).await;
    let ttl = json!({"Enabled": true, "AttributeName": "until"});
    database.succeed("UpdateTimeToLive", json!({"TableName": "Tab", "TimeToLiveSpecification": ttl})).await;
    for number in 0..10 {
        database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(number, "old")})).await;
    }
    database.succeed("CreateBackup", json!({"TableName": "Tab", "BackupName": "whole"})).await;
    database.maintain().await;
    store.damage(&item_keys(&store)[3]);
    (store, database)
}

/// The stored keys of the table's items, whose space is the first to be allocated.
fn item_keys(store: &DamagingStore) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let range = KeyRange { start: 16_u32.to_be_bytes().to_vec(), end: 17_u32.to_be_bytes().to_vec() };
    let visit = |key: &[u8], _: &[u8]| {
        keys.push(key.to_vec());
        ControlFlow::Continue(())
    };
    store.rows.snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
    keys
}

fn kinds(database: &Database<DamagingStore>) -> Vec<FindingKind> {
    database.findings(Pace::EXCLUSIVE).into_iter().map(|finding| finding.kind).collect()
}

async fn in_group(database: &Database<DamagingStore>, group: &str) -> usize {
    let request = json!({
        "TableName": "Tab", "IndexName": "byGroup", "KeyConditionExpression": "#g = :g",
        "ExpressionAttributeNames": {"#g": "group"}, "ExpressionAttributeValues": {":g": {"S": group}},
    });
    database.succeed("Query", request).await["Items"].as_array().unwrap().len()
}

/// The last record of the stream.
async fn last_record(database: &Database<DamagingStore>) -> Value {
    let arn =
        database.succeed("DescribeTable", json!({"TableName": "Tab"})).await["Table"]["LatestStreamArn"]
            .clone();
    let stream = database.succeed("DescribeStream", json!({"StreamArn": arn})).await;
    let mut records = Vec::new();
    for shard in stream["StreamDescription"]["Shards"].as_array().unwrap() {
        let position =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let iterator = database.succeed("GetShardIterator", position).await["ShardIterator"].clone();
        let page = database.succeed("GetRecords", json!({"ShardIterator": iterator})).await;
        records.extend(page["Records"].as_array().unwrap().clone());
    }
    records.pop().unwrap()
}

#[tokio::test]
async fn a_damaged_item_is_reported() {
    let (_, database) = damaged().await;
    let message = fails(&database, "GetItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    assert!(message.contains("damaged") && message.contains("PutItem or DeleteItem"), "{message}");
    let message = fails(&database, "Scan", json!({"TableName": "Tab"})).await;
    assert!(message.contains("after item pk=a, sk=2 and before item pk=a, sk=4"), "{message}");
    let request = json!({
        "TableName": "Tab", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}},
    });
    assert!(fails(&database, "Query", request).await.contains("after item pk=a, sk=2"));
    let passed =
        database.succeed("Scan", json!({"TableName": "Tab", "PartitaPastDamage": true, "Limit": 5})).await;
    assert_eq!(
        (&passed["Count"], passed["PartitaDamaged"].as_array().unwrap().len()),
        (&json!(5), 1),
        "{passed}"
    );
    // Everything else can be read.
    database.succeed("GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    assert_eq!(kinds(&database), [FindingKind::Damaged]);
}

#[tokio::test]
async fn writes_that_depend_on_a_damaged_item_fail_and_change_nothing() {
    let (_, database) = damaged().await;
    let condition =
        json!({"TableName": "Tab", "Item": item(3, "new"), "ConditionExpression": "attribute_exists(pk)"});
    fails(&database, "PutItem", condition).await;
    let old = json!({"TableName": "Tab", "Item": item(3, "new"), "ReturnValues": "ALL_OLD"});
    fails(&database, "PutItem", old).await;
    let update = json!({
        "TableName": "Tab", "Key": key(3), "UpdateExpression": "SET x = :x", "ExpressionAttributeValues": {":x": {"N": "1"}},
    });
    fails(&database, "UpdateItem", update).await;
    let check = json!({"TableName": "Tab", "Key": key(3), "ConditionExpression": "attribute_exists(pk)"});
    let put = json!({"TableName": "Tab", "Item": item(20, "new")});
    let transaction = json!({"TransactItems": [{"Put": put}, {"ConditionCheck": check}]});
    fails(&database, "TransactWriteItems", transaction).await;
    assert_eq!(kinds(&database), [FindingKind::Damaged]);
    assert_eq!(in_group(&database, "new").await, 0);
}

#[tokio::test]
async fn a_damaged_item_can_be_overwritten() {
    let (store, database) = damaged().await;
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    let found = database.succeed("GetItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    assert_eq!(found["Item"], item(3, "new"));
    // The entries of the damaged item are deleted.
    assert_eq!((in_group(&database, "old").await, in_group(&database, "new").await), (9, 1));
    let record = last_record(&database).await;
    assert_eq!((&record["eventName"], &record["dynamodb"]["OldImage"]), (&json!("MODIFY"), &Value::Null));
    // Only the size of the damaged item is unknown.
    let left = kinds(&database);
    assert!(
        left.iter().all(|kind| [FindingKind::WrongCounter, FindingKind::WrongCollection].contains(kind)),
        "{left:?}"
    );
    let table = database.succeed("DescribeTable", json!({"TableName": "Tab"})).await;
    assert_eq!(table["Table"]["ItemCount"], 10);
    repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap();
    database.assert_clean();
}

#[tokio::test]
async fn a_damaged_item_can_be_deleted() {
    let (_, database) = damaged().await;
    database.succeed("DeleteItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    let scanned = database.succeed("Scan", json!({"TableName": "Tab"})).await;
    assert_eq!(scanned["Count"], 9);
    assert_eq!(in_group(&database, "old").await, 9);
    let record = last_record(&database).await;
    assert_eq!((&record["eventName"], &record["dynamodb"]["Keys"]), (&json!("REMOVE"), &key(3)));
    let table = database.succeed("DescribeTable", json!({"TableName": "Tab"})).await;
    assert_eq!(table["Table"]["ItemCount"], 9);
}

#[tokio::test]
async fn batches_and_transactions_overwrite_a_damaged_item() {
    for number in 0..3 {
        let (_, database) = damaged().await;
        let put = json!({"TableName": "Tab", "Item": item(3, "new")});
        let other = json!({"TableName": "Tab", "Item": item(11, "new")});
        let (operation, body) = match number {
            0 => {
                let puts = json!([{"PutRequest": {"Item": item(3, "new")}}, {"PutRequest": {"Item": item(11, "new")}}]);
                ("BatchWriteItem", json!({"RequestItems": {"Tab": puts}}))
            }
            1 => ("TransactWriteItems", json!({"TransactItems": [{"Put": other}, {"Put": put}]})),
            _ => {
                let deletion = json!({"TableName": "Tab", "Key": key(3)});
                ("TransactWriteItems", json!({"TransactItems": [{"Delete": deletion}, {"Put": other}]}))
            }
        };
        database.succeed(operation, body).await;
        let expected = if number == 2 { (9, 1) } else { (9, 2) };
        assert_eq!((in_group(&database, "old").await, in_group(&database, "new").await), expected);
        assert!(!kinds(&database).contains(&FindingKind::StaleEntry));
    }
}

#[tokio::test]
async fn unreadable_totals_do_not_prevent_writes() {
    let (store, database) = damaged().await;
    store.damage(&[1_u32.to_be_bytes(), 16_u32.to_be_bytes()].concat());
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(12, "new")})).await;
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    assert_eq!(in_group(&database, "new").await, 2);
    assert!(kinds(&database).contains(&FindingKind::WrongCounter));
}

/// The state of the item at the time of the backup is unknown: the restored table does not contain it.
#[tokio::test]
async fn a_restore_omits_a_damaged_item_that_was_replaced() {
    let (_, database) = damaged().await;
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    let backups = database.succeed("ListBackups", json!({"TableName": "Tab"})).await;
    let arn = backups["BackupSummaries"][0]["BackupArn"].clone();
    database
        .succeed("RestoreTableFromBackup", json!({"BackupArn": arn, "TargetTableName": "Restored"}))
        .await;
    run_maintenance(&database).await;
    let restored = database.succeed("Scan", json!({"TableName": "Restored"})).await;
    assert_eq!(restored["Count"], 9);
    assert!(restored["Items"].as_array().unwrap().iter().all(|item| item["group"]["S"] == "old"));
}

/// An export skips damage, and lists what it could not read in an object next to its manifests.
#[tokio::test]
async fn an_export_lists_what_it_could_not_read() {
    let (_, database) = damaged().await;
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("bucket")).unwrap();
    database.engine.set_buckets(std::sync::Arc::new(BucketFolders(root.path().to_path_buf())));
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    database.succeed("UpdateContinuousBackups", on).await;
    let request =
        json!({"TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Tab", "S3Bucket": "bucket"});
    let started = database.succeed("ExportTableToPointInTime", request).await;
    run_maintenance(&database).await;
    let arn = json!({"ExportArn": started["ExportDescription"]["ExportArn"]});
    let export = database.succeed("DescribeExport", arn).await["ExportDescription"].clone();
    assert_eq!((&export["ExportStatus"], &export["ItemCount"]), (&json!("COMPLETED"), &json!(9)), "{export}");
    let manifest = root.path().join("bucket").join(export["ExportManifest"].as_str().unwrap());
    let list = std::fs::read(manifest.with_file_name("damaged.json")).unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    assert_eq!(list["damaged"].as_array().unwrap().len(), 1, "{list}");
}

/// The expiry entry has the time of the damaged item.
#[tokio::test]
async fn a_damaged_item_expires() {
    let (_, database) = damaged().await;
    database.advance_seconds(10_000_000);
    for _ in 0..3 {
        database.engine.maintain().await.unwrap();
    }
    assert_eq!(database.succeed("Scan", json!({"TableName": "Tab"})).await["Count"], 0);
    assert_eq!(in_group(&database, "old").await, 0);
}

/// A new index contains all readable items, and the damaged one as soon as it is overwritten.
#[tokio::test]
async fn a_backfill_skips_a_damaged_item() {
    let (_, database) = damaged().await;
    let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
    let index = json!({
        "IndexName": "byTime", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "until", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    });
    let definitions =
        [definition("pk", "S"), definition("sk", "N"), definition("group", "S"), definition("until", "N")];
    let request = json!({
        "TableName": "Tab", "AttributeDefinitions": definitions, "GlobalSecondaryIndexUpdates": [{"Create": index}],
    });
    database.succeed("UpdateTable", request).await;
    run_maintenance(&database).await;
    let by_time = json!({"TableName": "Tab", "IndexName": "byTime"});
    assert_eq!(database.succeed("Scan", by_time.clone()).await["Count"], 9);
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    assert_eq!(database.succeed("Scan", by_time).await["Count"], 10);
}

/// An unreadable record of a stream does not prevent others from being trimmed, and is trimmed with them.
#[tokio::test]
async fn a_stream_is_trimmed_past_damage() {
    let (store, database) = damaged().await;
    store.damage(&records(&store)[4]);
    database.advance_seconds(25 * 60 * 60);
    database.engine.maintain().await.unwrap();
    assert_eq!(records(&store), Vec::<Vec<u8>>::new());
}

/// Records before the damage are returned first; then the error says where to continue.
#[tokio::test]
async fn a_stream_is_read_up_to_damage_and_after_it() {
    let (store, database) = damaged().await;
    let shard_of = |key: &[u8]| key[4..8].to_vec();
    let all = records(&store);
    // A record that is followed by another in its shard.
    let pair = all.windows(2).find(|pair| shard_of(&pair[0]) == shard_of(&pair[1])).unwrap();
    store.damage(&pair[0]);
    let arn =
        database.succeed("DescribeTable", json!({"TableName": "Tab"})).await["Table"]["LatestStreamArn"]
            .clone();
    let stream = database.succeed("DescribeStream", json!({"StreamArn": arn})).await;
    let (mut read, mut skipped) = (0, 0);
    for shard in stream["StreamDescription"]["Shards"].as_array().unwrap() {
        let mut position =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let mut iterator =
            database.succeed("GetShardIterator", position.clone()).await["ShardIterator"].clone();
        loop {
            let page = database.call("GetRecords", json!({"ShardIterator": iterator})).await;
            if let Some(message) = page["message"].as_str() {
                let number =
                    message.split("AT_SEQUENCE_NUMBER ").nth(1).and_then(|rest| rest.split(' ').next());
                position["ShardIteratorType"] = json!("AT_SEQUENCE_NUMBER");
                position["SequenceNumber"] = json!(number.unwrap());
                iterator =
                    database.succeed("GetShardIterator", position.clone()).await["ShardIterator"].clone();
                skipped += 1;
                continue;
            }
            if page["Records"].as_array().unwrap().is_empty() {
                break;
            }
            read += page["Records"].as_array().unwrap().len();
            iterator = page["NextShardIterator"].clone();
        }
    }
    assert_eq!((read, skipped), (records(&store).len() - 1, 1));
}

/// The stored keys of the stream's records: the only keys of this length.
fn records(store: &DamagingStore) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let range = KeyRange { start: 16_u32.to_be_bytes().to_vec(), end: 64_u32.to_be_bytes().to_vec() };
    let visit = |key: &[u8], _: &[u8]| {
        keys.extend((key.len() == 16).then(|| key.to_vec()));
        ControlFlow::Continue(())
    };
    store.rows.snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
    keys
}

/// The keys of a catalog row and of its second copy.
fn catalog_row(within: &[u8]) -> [Vec<u8>; 2] {
    [0, u32::MAX - 1].map(|space: u32| [&space.to_be_bytes()[..], within].concat())
}

/// Opens the database again after damaging these rows.
async fn reopened_with_damage(
    store: &DamagingStore,
    database: Database<DamagingStore>,
    rows: &[Vec<u8>],
) -> Database<DamagingStore> {
    rows.iter().for_each(|row| store.damage(row));
    database.reopen(|| store.clone())
}

async fn run_maintenance(database: &Database<DamagingStore>) {
    while database.engine.maintain().await.unwrap() == Progress::More {}
}

fn new_table(name: &str) -> Value {
    json!({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    })
}

/// An intact database. Spaces: items 16, indexes 17 and 18, collections 19, stream 20.
async fn intact() -> (DamagingStore, Database<DamagingStore>) {
    let (store, database) = damaged().await;
    database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap();
    database.succeed("CreateTable", new_table("Other")).await;
    database.assert_clean();
    (store, database)
}

fn rows_of_kind(store: &DamagingStore, kind: u8) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let range = KeyRange { start: vec![0, 0, 0, 0, kind], end: vec![0, 0, 0, 0, kind + 1] };
    let visit = |key: &[u8], _: &[u8]| {
        keys.extend(catalog_row(&key[4..]));
        ControlFlow::Continue(())
    };
    store.rows.snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
    keys
}

#[tokio::test]
async fn a_damaged_catalog_row_is_restored_from_its_copy() {
    for kind in 1..=4 {
        for copy in [0, 1] {
            let (store, database) = intact().await;
            let rows: Vec<_> = rows_of_kind(&store, kind).into_iter().skip(copy).step_by(2).collect();
            assert!(!rows.is_empty());
            let database = reopened_with_damage(&store, database, &rows).await;
            database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(12, "new")})).await;
            assert!(kinds(&database).iter().all(|kind| *kind == FindingKind::Damaged));
            run_maintenance(&database).await;
            database.assert_clean();
            database.succeed("CreateTable", new_table("Third")).await;
            database.assert_clean();
        }
    }
}

/// The schema of the table is lost, but its name is known; other tables are not affected.
#[tokio::test]
async fn a_table_whose_record_is_lost_can_only_be_restored() {
    let (store, database) = intact().await;
    let database = reopened_with_damage(&store, database, &catalog_row(b"\x01Tab")).await;
    let message = fails(&database, "GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    assert!(
        message.contains("the record of table Tab is damaged") && message.contains("Restore a backup"),
        "{message}"
    );
    fails(&database, "DescribeTable", json!({"TableName": "Tab"})).await;
    fails(&database, "DeleteTable", json!({"TableName": "Tab"})).await;
    fails(&database, "CreateBackup", json!({"TableName": "Tab", "BackupName": "late"})).await;
    assert!(fails(&database, "CreateTable", new_table("Tab")).await.contains("record of table Tab"));
    let listed = database.succeed("ListTables", json!({})).await;
    assert_eq!(listed["TableNames"], json!(["Other", "Tab"]));
    let first = database.succeed("ListTables", json!({"Limit": 1})).await;
    assert_eq!(
        (&first["TableNames"], &first["LastEvaluatedTableName"]),
        (&json!(["Other"]), &json!("Other"))
    );
    database.succeed("PutItem", json!({"TableName": "Other", "Item": {"pk": {"S": "a"}}})).await;
    // Its backup still exists.
    let backups = database.succeed("ListBackups", json!({"TableName": "Tab"})).await;
    let arn = backups["BackupSummaries"][0]["BackupArn"].clone();
    database
        .succeed("RestoreTableFromBackup", json!({"BackupArn": arn, "TargetTableName": "Restored"}))
        .await;
    run_maintenance(&database).await;
    assert_eq!(database.succeed("Scan", json!({"TableName": "Restored"})).await["Count"], 9);
    let found = database.findings(Pace::EXCLUSIVE);
    assert!(found.iter().any(|one| one.kind == FindingKind::Damaged && one.table.as_deref() == Some("Tab")));
    // The repair deletes the table: its name is free again, and its rows are deleted.
    for _ in 0..3 {
        repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap();
    }
    let database = database.reopen(|| store.clone());
    assert_eq!(database.succeed("ListTables", json!({})).await["TableNames"], json!(["Other", "Restored"]));
    database.succeed("CreateTable", new_table("Tab")).await;
    assert_eq!(database.succeed("Scan", json!({"TableName": "Tab"})).await["Count"], 0);
}

/// The next space is determined again from the others.
#[tokio::test]
async fn no_space_is_allocated_twice() {
    let (store, database) = intact().await;
    let database = reopened_with_damage(&store, database, &catalog_row(b"\x02")).await;
    run_maintenance(&database).await;
    database.succeed("CreateTable", new_table("Third")).await;
    assert_eq!(database.succeed("Scan", json!({"TableName": "Third"})).await["Count"], 0);
    database.assert_clean();
}

/// A change that cannot be recorded in the stream or history is rejected, until that is disabled or replaced.
#[tokio::test]
async fn a_lost_stream_or_history_prevents_writes_until_it_is_abandoned() {
    let put = json!({"TableName": "Tab", "Item": item(12, "new")});
    let (store, database) = intact().await;
    let rows = rows_of_kind(&store, 3);
    let database = reopened_with_damage(&store, database, &rows).await;
    assert!(fails(&database, "PutItem", put.clone()).await.contains("stream of table Tab"));
    database.succeed("GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    let off = json!({"TableName": "Tab", "StreamSpecification": {"StreamEnabled": false}});
    database.succeed("UpdateTable", off).await;
    database.succeed("PutItem", put.clone()).await;

    let (store, database) = intact().await;
    let rows = rows_of_kind(&store, 4);
    let database = reopened_with_damage(&store, database, &rows).await;
    assert!(fails(&database, "PutItem", put.clone()).await.contains("history of table Tab"));
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    database.succeed("UpdateContinuousBackups", on).await;
    database.succeed("PutItem", put).await;
}

/// Where rows of a history are lost, it is unknown which items have changed: a restore and an export omit those that may have
/// changed, and contain all others.
#[tokio::test]
async fn a_restore_skips_lost_rows_of_a_history() {
    let (store, database) = intact().await;
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    database.succeed("UpdateContinuousBackups", on).await;
    database.advance_seconds(10);
    let before = database.millis.load(std::sync::atomic::Ordering::Relaxed) / 1_000;
    database.advance_seconds(10);
    for number in [1, 4, 6, 8] {
        database.succeed("PutItem", json!({"TableName": "Tab", "Item": item(number, "later")})).await;
    }
    // The rows of the history from item 4 up to item 8; items 5 and 7 have none.
    let keys = item_keys(&store);
    let history = u32::from_be_bytes(*rows_of_kind(&store, 4)[0].last_chunk().unwrap());
    let in_history = |key: &[u8]| [&history.to_be_bytes()[..], &key[4..]].concat();
    store.lose(KeyRange { start: in_history(&keys[4]), end: in_history(&keys[8]) });

    let request = json!({"SourceTableName": "Tab", "TargetTableName": "Then", "RestoreDateTime": before});
    database.succeed("RestoreTableToPointInTime", request).await;
    run_maintenance(&database).await;
    let restored = database.succeed("Scan", json!({"TableName": "Then"})).await;
    let mut found: Vec<_> = restored["Items"].as_array().unwrap().iter().map(number_and_group).collect();
    found.sort();
    let whole = [(0, "old"), (1, "old"), (2, "old"), (3, "new"), (8, "old"), (9, "old")];
    assert_eq!(found, whole.map(|(number, group)| (number, group.to_owned())));

    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("bucket")).unwrap();
    database.engine.set_buckets(std::sync::Arc::new(BucketFolders(root.path().to_path_buf())));
    let request = json!({
        "TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Tab", "S3Bucket": "bucket", "ExportTime": before,
    });
    let started = database.succeed("ExportTableToPointInTime", request).await;
    run_maintenance(&database).await;
    let arn = json!({"ExportArn": started["ExportDescription"]["ExportArn"]});
    let export = database.succeed("DescribeExport", arn).await["ExportDescription"].clone();
    assert_eq!((&export["ExportStatus"], &export["ItemCount"]), (&json!("COMPLETED"), &json!(6)), "{export}");
    let manifest = root.path().join("bucket").join(export["ExportManifest"].as_str().unwrap());
    let list = std::fs::read_to_string(manifest.with_file_name("damaged.json")).unwrap();
    assert!(list.contains("a page is lost"), "{list}");
}

fn number_and_group(item: &Value) -> (u32, String) {
    let number = item["sk"]["N"].as_str().unwrap().parse().unwrap();
    (number, item["group"]["S"].as_str().unwrap().to_owned())
}

/// Entries and totals are rebuilt from the items.
#[tokio::test]
async fn damaged_entries_are_repaired() {
    for space in [17_u32, 18, 19] {
        let (store, database) = intact().await;
        let mut keys = Vec::new();
        let range = KeyRange { start: space.to_be_bytes().to_vec(), end: (space + 1).to_be_bytes().to_vec() };
        let visit = |key: &[u8], _: &[u8]| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        };
        store.rows.snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
        store.damage(&keys[0]);
        assert!(kinds(&database).contains(&FindingKind::Damaged), "space {space}");
        for _ in 0..3 {
            repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap();
        }
        database.assert_clean();
        assert_eq!(in_group(&database, "old").await + in_group(&database, "new").await, 10);
    }
}
