//! One damaged item costs no more than itself: it is told of, and can be overwritten and deleted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/damaging_store.rs"]
mod damaging_store;
use crate::support;

use damaging_store::DamagingStore;
use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_engine::maintenance::Progress;
use partita_engine::verify::{FindingKind, Pace, mend};
use partita_store::{Direction, KeyRange, Snapshot, Store};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use support::Database;

async fn ask(database: &Database<DamagingStore>, operation: &str, body: Value) -> Value {
    serde_json::from_str(&database.run(operation, &body.to_string()).await).unwrap()
}

async fn done(database: &Database<DamagingStore>, operation: &str, body: Value) -> Value {
    let answer = ask(database, operation, body).await;
    assert!(answer.get("__type").is_none(), "{operation}: {answer}");
    answer
}

/// Asks for what cannot be, and returns the reason.
async fn refused(database: &Database<DamagingStore>, operation: &str, body: Value) -> String {
    let answer = ask(database, operation, body).await;
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
    done(&database, "CreateTable", request).await;
    let ttl = json!({"Enabled": true, "AttributeName": "until"});
    done(&database, "UpdateTimeToLive", json!({"TableName": "Tab", "TimeToLiveSpecification": ttl})).await;
    for number in 0..10 {
        done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(number, "old")})).await;
    }
    done(&database, "CreateBackup", json!({"TableName": "Tab", "BackupName": "whole"})).await;
    database.maintain().await;
    store.damage(&item_keys(&store)[3]);
    (store, database)
}

/// The stored keys of the table's items: its space is the first that is given away.
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
    database.findings(Pace::ALONE).into_iter().map(|finding| finding.kind).collect()
}

async fn in_group(database: &Database<DamagingStore>, group: &str) -> usize {
    let request = json!({
        "TableName": "Tab", "IndexName": "byGroup", "KeyConditionExpression": "#g = :g",
        "ExpressionAttributeNames": {"#g": "group"}, "ExpressionAttributeValues": {":g": {"S": group}},
    });
    done(database, "Query", request).await["Items"].as_array().unwrap().len()
}

/// The last record of the stream.
async fn last_record(database: &Database<DamagingStore>) -> Value {
    let arn = done(database, "DescribeTable", json!({"TableName": "Tab"})).await["Table"]["LatestStreamArn"]
        .clone();
    let stream = done(database, "DescribeStream", json!({"StreamArn": arn})).await;
    let mut records = Vec::new();
    for shard in stream["StreamDescription"]["Shards"].as_array().unwrap() {
        let place =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let iterator = done(database, "GetShardIterator", place).await["ShardIterator"].clone();
        let page = done(database, "GetRecords", json!({"ShardIterator": iterator})).await;
        records.extend(page["Records"].as_array().unwrap().clone());
    }
    records.pop().unwrap()
}

#[tokio::test]
async fn a_damaged_item_is_told_of() {
    let (_, database) = damaged().await;
    let told = refused(&database, "GetItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    assert!(told.contains("damaged") && told.contains("PutItem or DeleteItem"), "{told}");
    let told = refused(&database, "Scan", json!({"TableName": "Tab"})).await;
    assert!(told.contains("behind item pk=a, sk=2 and before item pk=a, sk=4"), "{told}");
    let request = json!({
        "TableName": "Tab", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}},
    });
    assert!(refused(&database, "Query", request).await.contains("behind item pk=a, sk=2"));
    let passed =
        done(&database, "Scan", json!({"TableName": "Tab", "PartitaPastDamage": true, "Limit": 5})).await;
    assert_eq!(
        (&passed["Count"], passed["PartitaDamaged"].as_array().unwrap().len()),
        (&json!(5), 1),
        "{passed}"
    );
    // All else can be read.
    done(&database, "GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    assert_eq!(kinds(&database), [FindingKind::Damaged]);
}

#[tokio::test]
async fn what_depends_on_it_is_refused_and_leaves_it() {
    let (_, database) = damaged().await;
    let condition =
        json!({"TableName": "Tab", "Item": item(3, "new"), "ConditionExpression": "attribute_exists(pk)"});
    refused(&database, "PutItem", condition).await;
    let old = json!({"TableName": "Tab", "Item": item(3, "new"), "ReturnValues": "ALL_OLD"});
    refused(&database, "PutItem", old).await;
    let update = json!({
        "TableName": "Tab", "Key": key(3), "UpdateExpression": "SET x = :x", "ExpressionAttributeValues": {":x": {"N": "1"}},
    });
    refused(&database, "UpdateItem", update).await;
    let check = json!({"TableName": "Tab", "Key": key(3), "ConditionExpression": "attribute_exists(pk)"});
    let put = json!({"TableName": "Tab", "Item": item(20, "new")});
    let transaction = json!({"TransactItems": [{"Put": put}, {"ConditionCheck": check}]});
    refused(&database, "TransactWriteItems", transaction).await;
    assert_eq!(kinds(&database), [FindingKind::Damaged]);
    assert_eq!(in_group(&database, "new").await, 0);
}

#[tokio::test]
async fn it_can_be_overwritten() {
    let (store, database) = damaged().await;
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    let found = done(&database, "GetItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    assert_eq!(found["Item"], item(3, "new"));
    // No entry of what it was is left.
    assert_eq!((in_group(&database, "old").await, in_group(&database, "new").await), (9, 1));
    let record = last_record(&database).await;
    assert_eq!((&record["eventName"], &record["dynamodb"]["OldImage"]), (&json!("MODIFY"), &Value::Null));
    // Only how many bytes the lost item had is not known.
    let left = kinds(&database);
    assert!(
        left.iter().all(|kind| [FindingKind::WrongCounter, FindingKind::WrongCollection].contains(kind)),
        "{left:?}"
    );
    let table = done(&database, "DescribeTable", json!({"TableName": "Tab"})).await;
    assert_eq!(table["Table"]["ItemCount"], 10);
    mend(&store, database.findings(Pace::ALONE)).await.unwrap();
    database.assert_clean();
}

#[tokio::test]
async fn it_can_be_deleted() {
    let (_, database) = damaged().await;
    done(&database, "DeleteItem", json!({"TableName": "Tab", "Key": key(3)})).await;
    let scanned = done(&database, "Scan", json!({"TableName": "Tab"})).await;
    assert_eq!(scanned["Count"], 9);
    assert_eq!(in_group(&database, "old").await, 9);
    let record = last_record(&database).await;
    assert_eq!((&record["eventName"], &record["dynamodb"]["Keys"]), (&json!("REMOVE"), &key(3)));
    let table = done(&database, "DescribeTable", json!({"TableName": "Tab"})).await;
    assert_eq!(table["Table"]["ItemCount"], 9);
}

#[tokio::test]
async fn batches_and_transactions_go_over_it() {
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
        done(&database, operation, body).await;
        let expected = if number == 2 { (9, 1) } else { (9, 2) };
        assert_eq!((in_group(&database, "old").await, in_group(&database, "new").await), expected);
        assert!(!kinds(&database).contains(&FindingKind::StaleEntry));
    }
}

#[tokio::test]
async fn totals_that_cannot_be_read_cost_no_write() {
    let (store, database) = damaged().await;
    store.damage(&[1_u32.to_be_bytes(), 16_u32.to_be_bytes()].concat());
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(12, "new")})).await;
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    assert_eq!(in_group(&database, "new").await, 2);
    assert!(kinds(&database).contains(&FindingKind::WrongCounter));
}

/// What the table was when the item was still whole cannot be told any more, and is not told wrongly.
#[tokio::test]
async fn the_past_of_a_replaced_item_is_not_made_up() {
    let (_, database) = damaged().await;
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    let backups = done(&database, "ListBackups", json!({"TableName": "Tab"})).await;
    let arn = backups["BackupSummaries"][0]["BackupArn"].clone();
    done(&database, "RestoreTableFromBackup", json!({"BackupArn": arn, "TargetTableName": "Restored"})).await;
    while database.engine.maintain().await.unwrap() == Progress::More {}
    let restored = done(&database, "Scan", json!({"TableName": "Restored"})).await;
    assert_eq!(restored["Count"], 9);
    assert!(restored["Items"].as_array().unwrap().iter().all(|item| item["group"]["S"] == "old"));
}

/// An export goes on, and lists what it could not read beside its manifests.
#[tokio::test]
async fn an_export_lists_what_it_could_not_read() {
    let (_, database) = damaged().await;
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("bucket")).unwrap();
    database.engine.set_buckets(std::sync::Arc::new(BucketFolders(root.path().to_path_buf())));
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    done(&database, "UpdateContinuousBackups", on).await;
    let request =
        json!({"TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Tab", "S3Bucket": "bucket"});
    let begun = done(&database, "ExportTableToPointInTime", request).await;
    while database.engine.maintain().await.unwrap() == Progress::More {}
    let arn = json!({"ExportArn": begun["ExportDescription"]["ExportArn"]});
    let export = done(&database, "DescribeExport", arn).await["ExportDescription"].clone();
    assert_eq!((&export["ExportStatus"], &export["ItemCount"]), (&json!("COMPLETED"), &json!(9)), "{export}");
    let manifest = root.path().join("bucket").join(export["ExportManifest"].as_str().unwrap());
    let list = std::fs::read(manifest.with_file_name("damaged.json")).unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    assert_eq!(list["damaged"].as_array().unwrap().len(), 1, "{list}");
}

/// The order of expiry says that the item's time has come.
#[tokio::test]
async fn it_expires_with_the_others() {
    let (_, database) = damaged().await;
    database.advance_seconds(10_000_000);
    for _ in 0..3 {
        database.engine.maintain().await.unwrap();
    }
    assert_eq!(done(&database, "Scan", json!({"TableName": "Tab"})).await["Count"], 0);
    assert_eq!(in_group(&database, "old").await, 0);
}

/// A new index has all that can be read, and the damaged item as soon as it is written anew.
#[tokio::test]
async fn an_index_is_filled_past_it() {
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
    done(&database, "UpdateTable", request).await;
    while database.engine.maintain().await.unwrap() == Progress::More {}
    let by_time = json!({"TableName": "Tab", "IndexName": "byTime"});
    assert_eq!(done(&database, "Scan", by_time.clone()).await["Count"], 9);
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    assert_eq!(done(&database, "Scan", by_time).await["Count"], 10);
}

/// A record of a stream that cannot be read keeps no other from being trimmed, and goes with them.
#[tokio::test]
async fn a_stream_is_trimmed_past_damage() {
    let (store, database) = damaged().await;
    store.damage(&records(&store)[4]);
    database.advance_seconds(25 * 60 * 60);
    database.engine.maintain().await.unwrap();
    assert_eq!(records(&store), Vec::<Vec<u8>>::new());
}

/// What stands before the damage is read; then it is said where to go on.
#[tokio::test]
async fn a_stream_is_read_up_to_damage_and_behind_it() {
    let (store, database) = damaged().await;
    let shard_of = |key: &[u8]| key[4..8].to_vec();
    let all = records(&store);
    // One with another behind it.
    let pair = all.windows(2).find(|pair| shard_of(&pair[0]) == shard_of(&pair[1])).unwrap();
    store.damage(&pair[0]);
    let arn = done(&database, "DescribeTable", json!({"TableName": "Tab"})).await["Table"]["LatestStreamArn"]
        .clone();
    let stream = done(&database, "DescribeStream", json!({"StreamArn": arn})).await;
    let (mut read, mut passed) = (0, 0);
    for shard in stream["StreamDescription"]["Shards"].as_array().unwrap() {
        let mut place =
            json!({"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"});
        let mut iterator = done(&database, "GetShardIterator", place.clone()).await["ShardIterator"].clone();
        loop {
            let page = ask(&database, "GetRecords", json!({"ShardIterator": iterator})).await;
            if let Some(told) = page["message"].as_str() {
                let number = told.split("AT_SEQUENCE_NUMBER ").nth(1).and_then(|rest| rest.split(' ').next());
                place["ShardIteratorType"] = json!("AT_SEQUENCE_NUMBER");
                place["SequenceNumber"] = json!(number.unwrap());
                iterator = done(&database, "GetShardIterator", place.clone()).await["ShardIterator"].clone();
                passed += 1;
                continue;
            }
            if page["Records"].as_array().unwrap().is_empty() {
                break;
            }
            read += page["Records"].as_array().unwrap().len();
            iterator = page["NextShardIterator"].clone();
        }
    }
    assert_eq!((read, passed), (records(&store).len() - 1, 1));
}

/// The stored keys of the stream's records, which alone have a shard and a number.
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

/// Where a row of the catalog is, and where its second copy is.
fn catalog_row(within: &[u8]) -> [Vec<u8>; 2] {
    [0, u32::MAX - 1].map(|space: u32| [&space.to_be_bytes()[..], within].concat())
}

/// The database as it is when it is opened with these rows damaged.
async fn opened_without(
    store: &DamagingStore,
    database: Database<DamagingStore>,
    rows: &[Vec<u8>],
) -> Database<DamagingStore> {
    rows.iter().for_each(|row| store.damage(row));
    database.reopen(|| store.clone())
}

async fn maintained(database: &Database<DamagingStore>) {
    while database.engine.maintain().await.unwrap() == Progress::More {}
}

fn new_table(name: &str) -> Value {
    json!({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    })
}

/// Whole, but for what the test damages. Spaces: items 16, indexes 17 and 18, collections 19, stream 20.
async fn whole() -> (DamagingStore, Database<DamagingStore>) {
    let (store, database) = damaged().await;
    done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(3, "new")})).await;
    mend(&store, database.findings(Pace::ALONE)).await.unwrap();
    done(&database, "CreateTable", new_table("Other")).await;
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
async fn a_damaged_row_of_the_catalog_costs_nothing() {
    for kind in 1..=4 {
        for copy in [0, 1] {
            let (store, database) = whole().await;
            let rows: Vec<_> = rows_of_kind(&store, kind).into_iter().skip(copy).step_by(2).collect();
            assert!(!rows.is_empty());
            let database = opened_without(&store, database, &rows).await;
            done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(12, "new")})).await;
            assert!(kinds(&database).iter().all(|kind| *kind == FindingKind::Damaged));
            maintained(&database).await;
            database.assert_clean();
            done(&database, "CreateTable", new_table("Third")).await;
            database.assert_clean();
        }
    }
}

/// Nobody knows its schema any more, but it is known to be there; and all else goes on.
#[tokio::test]
async fn a_lost_record_costs_its_table() {
    let (store, database) = whole().await;
    let database = opened_without(&store, database, &catalog_row(b"\x01Tab")).await;
    let told = refused(&database, "GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    assert!(
        told.contains("the record of table Tab is damaged") && told.contains("Restore a backup"),
        "{told}"
    );
    refused(&database, "DescribeTable", json!({"TableName": "Tab"})).await;
    refused(&database, "DeleteTable", json!({"TableName": "Tab"})).await;
    refused(&database, "CreateBackup", json!({"TableName": "Tab", "BackupName": "late"})).await;
    assert!(refused(&database, "CreateTable", new_table("Tab")).await.contains("record of table Tab"));
    let listed = done(&database, "ListTables", json!({})).await;
    assert_eq!(listed["TableNames"], json!(["Other", "Tab"]));
    let first = done(&database, "ListTables", json!({"Limit": 1})).await;
    assert_eq!(
        (&first["TableNames"], &first["LastEvaluatedTableName"]),
        (&json!(["Other"]), &json!("Other"))
    );
    done(&database, "PutItem", json!({"TableName": "Other", "Item": {"pk": {"S": "a"}}})).await;
    // Its backup is there, whatever became of it.
    let backups = done(&database, "ListBackups", json!({"TableName": "Tab"})).await;
    let arn = backups["BackupSummaries"][0]["BackupArn"].clone();
    done(&database, "RestoreTableFromBackup", json!({"BackupArn": arn, "TargetTableName": "Restored"})).await;
    maintained(&database).await;
    assert_eq!(done(&database, "Scan", json!({"TableName": "Restored"})).await["Count"], 9);
    let found = database.findings(Pace::ALONE);
    assert!(found.iter().any(|one| one.kind == FindingKind::Damaged && one.table.as_deref() == Some("Tab")));
    // To mend it is to let it go: then its name is free again, and its rows are gone.
    for _ in 0..3 {
        mend(&store, database.findings(Pace::ALONE)).await.unwrap();
    }
    let database = database.reopen(|| store.clone());
    assert_eq!(done(&database, "ListTables", json!({})).await["TableNames"], json!(["Other", "Restored"]));
    done(&database, "CreateTable", new_table("Tab")).await;
    assert_eq!(done(&database, "Scan", json!({"TableName": "Tab"})).await["Count"], 0);
}

/// The next space is found anew, and none is given away twice.
#[tokio::test]
async fn spaces_are_not_given_away_twice() {
    let (store, database) = whole().await;
    let database = opened_without(&store, database, &catalog_row(b"\x02")).await;
    maintained(&database).await;
    done(&database, "CreateTable", new_table("Third")).await;
    assert_eq!(done(&database, "Scan", json!({"TableName": "Third"})).await["Count"], 0);
    database.assert_clean();
}

/// A change that would not be told to a stream or a history must not happen, until somebody says that it may.
#[tokio::test]
async fn a_lost_stream_or_history_stops_writes_until_it_is_given_up() {
    let put = json!({"TableName": "Tab", "Item": item(12, "new")});
    let (store, database) = whole().await;
    let rows = rows_of_kind(&store, 3);
    let database = opened_without(&store, database, &rows).await;
    assert!(refused(&database, "PutItem", put.clone()).await.contains("stream of table Tab"));
    done(&database, "GetItem", json!({"TableName": "Tab", "Key": key(4)})).await;
    let off = json!({"TableName": "Tab", "StreamSpecification": {"StreamEnabled": false}});
    done(&database, "UpdateTable", off).await;
    done(&database, "PutItem", put.clone()).await;

    let (store, database) = whole().await;
    let rows = rows_of_kind(&store, 4);
    let database = opened_without(&store, database, &rows).await;
    assert!(refused(&database, "PutItem", put.clone()).await.contains("history of table Tab"));
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    done(&database, "UpdateContinuousBackups", on).await;
    done(&database, "PutItem", put).await;
}

/// Which items have changed is not known where rows of a history are lost: those that may have are left out, and a
/// restore and an export go on with all others.
#[tokio::test]
async fn a_restore_goes_on_past_lost_rows_of_a_history() {
    let (store, database) = whole().await;
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Tab", "PointInTimeRecoverySpecification": specification});
    done(&database, "UpdateContinuousBackups", on).await;
    database.advance_seconds(10);
    let before = database.millis.load(std::sync::atomic::Ordering::Relaxed) / 1_000;
    database.advance_seconds(10);
    for number in [1, 4, 6, 8] {
        done(&database, "PutItem", json!({"TableName": "Tab", "Item": item(number, "later")})).await;
    }
    // The history's rows from those of item 4 on, up to those of item 8, though items 5 and 7 have none.
    let keys = item_keys(&store);
    let history = u32::from_be_bytes(*rows_of_kind(&store, 4)[0].last_chunk().unwrap());
    let in_history = |key: &[u8]| [&history.to_be_bytes()[..], &key[4..]].concat();
    store.lose(KeyRange { start: in_history(&keys[4]), end: in_history(&keys[8]) });

    let request = json!({"SourceTableName": "Tab", "TargetTableName": "Then", "RestoreDateTime": before});
    done(&database, "RestoreTableToPointInTime", request).await;
    maintained(&database).await;
    let restored = done(&database, "Scan", json!({"TableName": "Then"})).await;
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
    let begun = done(&database, "ExportTableToPointInTime", request).await;
    maintained(&database).await;
    let arn = json!({"ExportArn": begun["ExportDescription"]["ExportArn"]});
    let export = done(&database, "DescribeExport", arn).await["ExportDescription"].clone();
    assert_eq!((&export["ExportStatus"], &export["ItemCount"]), (&json!("COMPLETED"), &json!(6)), "{export}");
    let manifest = root.path().join("bucket").join(export["ExportManifest"].as_str().unwrap());
    let list = std::fs::read_to_string(manifest.with_file_name("damaged.json")).unwrap();
    assert!(list.contains("a page is lost"), "{list}");
}

fn number_and_group(item: &Value) -> (u32, String) {
    let number = item["sk"]["N"].as_str().unwrap().parse().unwrap();
    (number, item["group"]["S"].as_str().unwrap().to_owned())
}

/// What stands beside the items is made anew out of them.
#[tokio::test]
async fn damaged_entries_are_mended() {
    for space in [17_u32, 18, 19] {
        let (store, database) = whole().await;
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
            mend(&store, database.findings(Pace::ALONE)).await.unwrap();
        }
        database.assert_clean();
        assert_eq!(in_group(&database, "old").await + in_group(&database, "new").await, 10);
    }
}
