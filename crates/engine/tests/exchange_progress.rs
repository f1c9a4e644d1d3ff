//! Imports, exports and bulk operations resume from rows of early versions, and store their progress in a small row per step.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_engine::maintenance::Progress;
use partita_store::{Decision, Direction, KeyRange, Snapshot, Store, Write};
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use support::Database;

const TABLE: &str = r#"{"TableName": "Music", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}"#;
const EXPORT: u8 = 1;
const IMPORT: u8 = 2;
const BULK_OPERATION: u8 = 4;
const PROGRESS: u8 = 8;

fn open(folder: &Path) -> EmbeddedStore {
    EmbeddedStore::open(&folder.join("data"), Options { durability: Durability::Relaxed }).unwrap()
}

fn database(folder: &Path) -> Database<EmbeddedStore> {
    let database = Database::new(open(folder));
    std::fs::create_dir_all(folder.join("s3/bucket")).unwrap();
    database.engine.set_buckets(std::sync::Arc::new(BucketFolders(folder.join("s3"))));
    database
}

/// Writes objects with one item each.
fn write_objects(folder: &Path, number: usize) {
    std::fs::create_dir_all(folder.join("s3/bucket/in")).unwrap();
    for n in 0..number {
        let line = format!("{{\"Item\":{{\"pk\":{{\"S\":\"{n}\"}}}}}}\n");
        std::fs::write(folder.join(format!("s3/bucket/in/{n:04}")), line).unwrap();
    }
}

/// The rows of a kind with their keys, as JSON.
fn rows(store: &EmbeddedStore, kind: u8) -> Vec<(Vec<u8>, Value)> {
    let prefix = |kind: u8| [&6u32.to_be_bytes()[..], &[kind]].concat();
    let range = KeyRange { start: prefix(kind), end: prefix(kind + 1) };
    let mut rows = Vec::new();
    let visit = |key: &[u8], row: &[u8]| {
        rows.push((key.to_vec(), serde_json::from_slice(row).unwrap_or(Value::Null)));
        ControlFlow::Continue(())
    };
    store.snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
    rows
}

/// Replaces the only row of a kind by what an early version would have stored.
async fn store_old_row(folder: &Path, kind: u8, change: impl Fn(&mut Value)) {
    let store = open(folder);
    let (key, mut record) = rows(&store, kind).pop().unwrap();
    change(&mut record);
    let value = serde_json::to_vec(&record).unwrap();
    let progress = [&6u32.to_be_bytes()[..], &[PROGRESS], &key[5..]].concat();
    let decision = move |_: &partita_store::Rows<'_>| {
        let writes =
            [Write::Put { key: key.clone(), value: value.clone() }, Write::Delete { key: progress.clone() }];
        Decision::commit(writes.to_vec(), ())
    };
    store.decide(Vec::new(), decision).await.unwrap();
}

async fn start_import(database: &Database<EmbeddedStore>) {
    let request = format!(
        r#"{{"S3BucketSource": {{"S3Bucket": "bucket", "S3KeyPrefix": "in/"}}, "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": {TABLE}}}"#
    );
    let answer = database.run("ImportTable", &request).await;
    assert!(answer.contains("IN_PROGRESS"), "{answer}");
}

async fn described_import(database: &Database<EmbeddedStore>) -> Value {
    let listed: Value = serde_json::from_str(&database.run("ListImports", "{}").await).unwrap();
    let arn = &listed["ImportSummaryList"][0]["ImportArn"];
    let answer = database.run("DescribeImport", &json!({"ImportArn": arn}).to_string()).await;
    serde_json::from_str::<Value>(&answer).unwrap()["ImportTableDescription"].take()
}

#[tokio::test]
async fn an_import_writes_a_small_row_per_step() {
    let folder = tempfile::tempdir().unwrap();
    write_objects(folder.path(), 300);
    let database = database(folder.path());
    start_import(&database).await;
    for _ in 0..150 {
        assert_eq!(database.engine.maintain().await.unwrap(), Progress::More);
    }
    let half = described_import(&database).await;
    assert!(
        half["ImportStatus"] == "IN_PROGRESS" && half["ImportedItemCount"].as_u64() > Some(100),
        "{half}"
    );
    drop(database);
    let store = open(folder.path());
    let progress = rows(&store, PROGRESS).pop().unwrap().1;
    assert!(progress.to_string().len() < 200, "{progress}");
    assert!(progress["place"]["object"].is_string(), "the position keeps its stored name: {progress}");
    assert_eq!(
        rows(&store, IMPORT)[0].1["import"]["imported_items"],
        0,
        "only the final state is stored in the record"
    );
    drop(store);
    let database = self::database(folder.path());
    database.maintain().await;
    let whole = described_import(&database).await;
    assert_eq!((&whole["ImportStatus"], &whole["ImportedItemCount"]), (&json!("COMPLETED"), &json!(300)));
    assert!(
        database.run("Scan", r#"{"TableName": "Music", "Select": "COUNT"}"#).await.contains("\"Count\":300")
    );
    drop(database);
    assert!(rows(&open(folder.path()), PROGRESS).is_empty());
}

#[tokio::test]
async fn an_import_of_an_early_version_resumes() {
    let folder = tempfile::tempdir().unwrap();
    write_objects(folder.path(), 5);
    let database = database(folder.path());
    start_import(&database).await;
    drop(database);
    store_old_row(folder.path(), IMPORT, |record| {
        let record = record.as_object_mut().unwrap();
        record.retain(|name, _| name == "import" || name == "table");
        let keys: Vec<String> = (0..5).map(|n| format!("in/{n:04}")).collect();
        record.insert("objects".into(), json!(keys));
        record.insert("object".into(), json!(3));
        record.insert("records".into(), json!(0));
        record["import"]["imported_items"] = json!(3);
        record["import"]["processed_items"] = json!(3);
    })
    .await;
    let database = self::database(folder.path());
    assert_eq!(described_import(&database).await["ImportedItemCount"], 3);
    database.maintain().await;
    let whole = described_import(&database).await;
    assert_eq!((&whole["ImportStatus"], &whole["ImportedItemCount"]), (&json!("COMPLETED"), &json!(5)));
    let found = database.run("Scan", r#"{"TableName": "Music", "Select": "COUNT"}"#).await;
    assert!(found.contains("\"Count\":2"), "only the remaining objects are read: {found}");
}

#[tokio::test]
async fn an_export_of_an_early_version_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    database.run("CreateTable", TABLE).await;
    let on =
        r#"{"TableName": "Music", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}"#;
    database.run("UpdateContinuousBackups", on).await;
    database.run("PutItem", r#"{"TableName": "Music", "Item": {"pk": {"S": "a"}}}"#).await;
    let request =
        r#"{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Music", "S3Bucket": "bucket"}"#;
    database.run("ExportTableToPointInTime", request).await;
    drop(database);
    store_old_row(folder.path(), EXPORT, |record| {
        let record = record.as_object_mut().unwrap();
        record.remove("written");
        let file = json!({"itemCount": 4, "md5Checksum": "x", "etag": "y", "dataFileS3Key": "first"});
        record.insert("files".into(), json!([file]));
    })
    .await;
    let database = self::database(folder.path());
    database.maintain().await;
    let listed = database.run("ListExports", "{}").await;
    assert!(listed.contains("COMPLETED"), "{listed}");
    let manifest = files_named(&folder.path().join("s3/bucket"), "manifest-files.json");
    let lines: Vec<String> = manifest.lines().map(str::to_owned).collect();
    assert!(
        lines.len() == 2 && lines[0].contains("first") && lines[1].contains("\"itemCount\":1"),
        "{lines:?}"
    );
}

fn files_named(folder: &Path, name: &str) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            text += &files_named(&entry.path(), name);
        } else if entry.file_name() == name {
            text += &std::fs::read_to_string(entry.path()).unwrap();
        }
    }
    text
}

#[tokio::test]
async fn a_bulk_operation_of_an_early_version_resumes() {
    let folder = tempfile::tempdir().unwrap();
    write_objects(folder.path(), 3);
    std::fs::write(folder.path().join("s3/bucket/in/0003"), "no json\n").unwrap();
    let database = database(folder.path());
    database.run("CreateTable", TABLE).await;
    let request = r#"{"TableName": "Music", "InputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "bucket", "OutputType": ["ERROR"]}}"#;
    let answer = database.run("StartBulkPutItems", request).await;
    assert!(answer.contains("IN_PROGRESS"), "{answer}");
    drop(database);
    store_old_row(folder.path(), BULK_OPERATION, |record| {
        record["position"] = json!({"object": "in/0002", "records": 0, "bytes_before": 60});
        record["operation"]["failed_items"] = json!(1);
        record["operation"]["processed_items"] = json!(2);
        record["reports"] =
            json!({"waiting": {"Error": {"text": "{\"old\":\"line\"}\n", "count": 1}}, "files": []});
    })
    .await;
    let database = self::database(folder.path());
    database.maintain().await;
    let listed = database.run("ListBulkOperations", "{}").await;
    assert!(listed.contains("COMPLETED_WITH_ERRORS"), "{listed}");
    assert!(database.run("Scan", r#"{"TableName": "Music"}"#).await.contains("\"Count\":1"));
    drop(database);
    let store = open(folder.path());
    assert_eq!(rows(&store, BULK_OPERATION)[0].1["operation"]["failed_items"], 2);
    assert!((8..=10).all(|kind| rows(&store, kind).is_empty()));
    let summary = files_named(&folder.path().join("s3/bucket"), "manifest-files.json");
    assert!(summary.contains("\"itemCount\":2"), "{summary}");
}
