//! Exports: what there was at a time, and what became of each item between two, in AWS's files.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_exchange::compression::Compression;
use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use support::{Database, START_MILLIS};

type Memory = Database<MemoryStore>;

async fn done(database: &Memory, operation: &str, body: Value) -> Value {
    let answer: Value = serde_json::from_str(&database.run(operation, &body.to_string()).await).unwrap();
    assert!(answer.get("__type").is_none(), "{operation}: {answer}");
    answer
}

async fn put(database: &Memory, pk: &str, size: u32) {
    let item = json!({"pk": {"S": pk}, "size": {"N": size.to_string()}, "more": {"L": [{"BOOL": true}]}});
    done(database, "PutItem", json!({"TableName": "Told", "Item": item})).await;
}

async fn delete(database: &Memory, pk: &str) {
    done(database, "DeleteItem", json!({"TableName": "Told", "Key": {"pk": {"S": pk}}})).await;
}

/// A table with recovery, and a bucket.
async fn database(root: &Path) -> Memory {
    std::fs::create_dir(root.join("bucket")).unwrap();
    let database = Database::new(MemoryStore::new());
    database.engine.set_buckets(std::sync::Arc::new(BucketFolders(root.to_path_buf())));
    let table = json!({"TableName": "Told", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]});
    done(&database, "CreateTable", table).await;
    let specification = json!({"PointInTimeRecoveryEnabled": true});
    let on = json!({"TableName": "Told", "PointInTimeRecoverySpecification": specification});
    done(&database, "UpdateContinuousBackups", on).await;
    database
}

fn seconds(database: &Memory) -> f64 {
    database.millis.load(Ordering::Relaxed) as f64 / 1_000.0
}

async fn begin(database: &Memory, mut request: Value) -> Value {
    request["TableArn"] = "arn:aws:dynamodb:us-east-1:000000000000:table/Told".into();
    request["S3Bucket"] = "bucket".into();
    request["S3Prefix"] = "pre/fix".into();
    done(database, "ExportTableToPointInTime", request).await["ExportDescription"]["ExportArn"].clone()
}

/// Exports a window and gives back the description and the lines, in order of their keys.
async fn export(database: &Memory, root: &Path, mut request: Value, window: Value) -> (Value, Vec<Value>) {
    request["ExportType"] = "INCREMENTAL_EXPORT".into();
    request["IncrementalExportSpecification"] = window;
    let arn = begin(database, request).await;
    let (description, mut lines) = ended(database, root, arn).await;
    lines.sort_by_key(|line| line["Keys"]["pk"]["S"].to_string());
    (description, lines)
}

/// What an export has written.
async fn ended(database: &Memory, root: &Path, arn: Value) -> (Value, Vec<Value>) {
    database.maintain().await;
    let arn = json!({"ExportArn": arn});
    let description = done(database, "DescribeExport", arn).await["ExportDescription"].clone();
    assert_eq!(description["ExportStatus"], "COMPLETED", "{description}");
    let bucket = root.join("bucket");
    let summary = read(&bucket.join(description["ExportManifest"].as_str().unwrap()), Compression::None);
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let incremental = summary["exportType"] == "INCREMENTAL_EXPORT";
    assert_eq!(summary["version"], if incremental { "2023-08-01" } else { "2020-06-30" });
    let files = read(&bucket.join(summary["manifestFilesS3Key"].as_str().unwrap()), Compression::None);
    let mut lines: Vec<Value> = Vec::new();
    for file in files.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let key = file["dataFileS3Key"].as_str().unwrap();
        assert_eq!(incremental, key.starts_with("pre/fix/AWSDynamoDB/data/"), "{key}");
        let text = read(&bucket.join(key), Compression::Gzip);
        lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    assert_eq!(description["ItemCount"], lines.len());
    (description, lines)
}

fn read(path: &PathBuf, compression: Compression) -> String {
    let mut text = String::new();
    let file = BufReader::new(std::fs::File::open(path).unwrap());
    compression.reader(file).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn tells_what_became_of_each_item() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path()).await;
    for pk in ["changed", "deleted", "rewritten", "untouched"] {
        put(&database, pk, 1).await;
    }
    database.advance_seconds(60);
    let from = seconds(&database);
    // The beginning is part of the window.
    put(&database, "changed", 2).await;
    database.advance_seconds(10);
    put(&database, "changed", 3).await;
    delete(&database, "deleted").await;
    delete(&database, "rewritten").await;
    put(&database, "rewritten", 1).await;
    put(&database, "new", 7).await;
    put(&database, "fleeting", 8).await;
    delete(&database, "fleeting").await;
    database.advance_seconds(15 * 60);
    let to = seconds(&database);
    // Its end is not.
    put(&database, "changed", 4).await;
    put(&database, "late", 9).await;
    database.advance_seconds(60);

    let window = json!({"ExportFromTime": from, "ExportToTime": to});
    let (description, lines) = export(&database, folder.path(), json!({}), window.clone()).await;
    assert_eq!(description["IncrementalExportSpecification"]["ExportViewType"], "NEW_AND_OLD_IMAGES");
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (&line["Keys"]["pk"]["S"], &line["OldImage"]["size"]["N"], &line["NewImage"]["size"]["N"])
        })
        .map(|(pk, old, new)| (pk.as_str().unwrap(), old.as_str(), new.as_str()))
        .collect();
    let expected = [
        ("changed", Some("1"), Some("3")),
        ("deleted", Some("1"), None),
        ("new", None, Some("7")),
        ("rewritten", Some("1"), Some("1")),
    ];
    assert_eq!(told, expected);
    let written = lines[0]["Metadata"]["WriteTimestampMicros"]["N"].as_str().unwrap();
    let seconds: u64 = written.parse::<u64>().unwrap() / 1_000_000;
    assert_eq!(seconds, START_MILLIS / 1_000 + 70);

    let view = json!({"ExportFromTime": from, "ExportToTime": to, "ExportViewType": "NEW_IMAGE"});
    let filter = json!({"FilterExpression": "#s > :one", "ProjectionExpression": "pk, #s",
        "ExpressionAttributeNames": {"#s": "size"}, "ExpressionAttributeValues": {":one": {"N": "1"}}});
    let (description, lines) =
        export(&database, folder.path(), json!({"FilterSpecification": filter}), view).await;
    assert_eq!(description["FilterSpecification"]["ProjectionExpression"], "pk, #s");
    let images: Vec<_> = lines.iter().map(|line| (&line["NewImage"], line.get("OldImage"))).collect();
    let image = |pk: &str, size: &str| json!({"pk": {"S": pk}, "size": {"N": size}});
    assert_eq!(images, [(&image("changed", "3"), None), (&image("new", "7"), None)]);

    let key = json!({"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "new"}}});
    let (_, lines) = export(&database, folder.path(), json!({"FilterSpecification": key}), window).await;
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["Keys"], json!({"pk": {"S": "new"}}));
}

#[tokio::test]
async fn windows_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path()).await;
    let start = seconds(&database);
    database.advance_seconds(2 * 86_400);
    let refused = async |from: f64, to: f64| {
        let request = json!({"TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Told",
            "S3Bucket": "bucket", "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": {"ExportFromTime": from, "ExportToTime": to}});
        let answer = database.run("ExportTableToPointInTime", &request.to_string()).await;
        serde_json::from_str::<Value>(&answer).unwrap()["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(start, start + 899.0).await.ends_with("is less than 15 minutes"));
    assert!(refused(start, start + 86_401.0).await.ends_with("is greater than 24 hours"));
    assert!(refused(start, start + 3.0 * 86_400.0).await.contains("cannot be greater than the current time"));
    assert!(
        refused(start - 5.0, start + 900.0).await.contains("cannot be less than the table creation time")
    );
}

#[tokio::test]
async fn shows_the_moment_of_the_request_whatever_happens_before_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path()).await;
    put(&database, "early", 1).await;
    let first = begin(&database, json!({})).await;
    // In the same millisecond, after the request.
    put(&database, "early", 2).await;
    put(&database, "late", 1).await;
    for enabled in [false, true] {
        let specification = json!({"PointInTimeRecoveryEnabled": enabled});
        let request = json!({"TableName": "Told", "PointInTimeRecoverySpecification": specification});
        done(&database, "UpdateContinuousBackups", request).await;
    }
    database.advance_seconds(5);
    // The clock is set back: what was answered is still exported.
    let second = begin(&database, json!({})).await;
    database.millis.fetch_sub(4_000, Ordering::Relaxed);
    put(&database, "last", 1).await;
    let third = begin(&database, json!({})).await;
    delete(&database, "early").await;
    done(&database, "DeleteTable", json!({"TableName": "Told"})).await;
    let sizes = |lines: Vec<Value>| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut sizes: Vec<_> = lines
            .iter()
            .map(|line| (text(&line["Item"]["pk"]["S"]), text(&line["Item"]["size"]["N"])))
            .collect();
        sizes.sort();
        sizes
    };
    let pair = |pk: &str, size: &str| (pk.to_owned(), size.to_owned());
    let (_, lines) = ended(&database, folder.path(), first).await;
    assert_eq!(sizes(lines), [pair("early", "1")]);
    let (_, lines) = ended(&database, folder.path(), second).await;
    assert_eq!(sizes(lines), [pair("early", "2"), pair("late", "1")]);
    let (_, lines) = ended(&database, folder.path(), third).await;
    assert_eq!(sizes(lines), [pair("early", "2"), pair("last", "1"), pair("late", "1")]);
}
