//! Bulk operations step by step: stopped behind every step and opened again, paced by a clock set by hand, cancelled.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_engine::maintenance::Progress;
use partita_store_embedded::{EmbeddedStore, Options};
use std::path::{Path, PathBuf};
use support::Database;

const TABLE: &str = r#"{"TableName":"Music","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}"#;

struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap().keep();
        std::fs::create_dir_all(folder.join("s3/input")).unwrap();
        std::fs::create_dir_all(folder.join("s3/output")).unwrap();
        Place { folder }
    }

    fn put(&self, key: &str, lines: impl Iterator<Item = String>) {
        let text: String = lines.map(|line| line + "\n").collect();
        std::fs::write(self.folder.join("s3/input").join(key), text).unwrap();
    }

    fn store(&self) -> EmbeddedStore {
        EmbeddedStore::open(&self.folder.join("data"), Options::default()).unwrap()
    }

    fn with_root(&self, database: Database<EmbeddedStore>) -> Database<EmbeddedStore> {
        database.engine.set_buckets(std::sync::Arc::new(BucketFolders(self.folder.join("s3"))));
        database
    }

    fn open(&self) -> Database<EmbeddedStore> {
        self.with_root(Database::new(self.store()))
    }

    fn reopen(&self, database: Database<EmbeddedStore>) -> Database<EmbeddedStore> {
        self.with_root(database.reopen(|| self.store()))
    }

    fn files(&self, under: &Path) -> usize {
        let entries = std::fs::read_dir(under).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { self.files(&entry.path()) } else { 1 }).sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn item(pk: usize) -> String {
    format!(r#"{{"Item":{{"pk":{{"S":"p{pk}"}}}},"ConditionExpression":"attribute_not_exists(pk)"}}"#)
}

/// The ARN of an operation that was started.
async fn start(database: &Database<EmbeddedStore>, more: &str) -> String {
    let body = format!(
        r#"{{"TableName":"Music",{more}"InputS3Configuration":{{"S3Bucket":"input","InputFormat":"DYNAMODB_JSON"}},
            "OutputS3Configuration":{{"S3Bucket":"output","OutputType":["ERROR","CONDITION_CHECK_FAILURE"]}}}}"#
    );
    let answer = database.run("StartBulkPutItems", &body).await;
    answer
        .split('"')
        .find(|part| part.contains("bulk-operation/"))
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

async fn described(database: &Database<EmbeddedStore>, arn: &str) -> String {
    database.run("DescribeBulkOperation", &format!(r#"{{"BulkOperationArn":"{arn}"}}"#)).await
}

async fn items(database: &Database<EmbeddedStore>) -> usize {
    let answer = database.run("Scan", r#"{"TableName":"Music","Select":"COUNT"}"#).await;
    let count = answer.split("\"Count\":").nth(1).unwrap();
    count.split([',', '}']).next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_operation_goes_on_behind_every_step() {
    let place = Place::new();
    let lines = |numbers: std::ops::Range<usize>| numbers.map(item);
    place.put("a", lines(0..700));
    place.put("b", lines(500..900).chain(["{}".to_owned()]));
    let mut database = place.open();
    database.run("CreateTable", TABLE).await;
    let arn = start(&database, "").await;
    let mut steps = 0;
    while described(&database, &arn).await.contains("IN_PROGRESS") {
        assert_eq!(database.engine.maintain().await.unwrap(), Progress::More);
        database = place.reopen(database);
        steps += 1;
    }
    assert!(steps >= 6, "{steps}");
    let done = described(&database, &arn).await;
    for part in
        ["COMPLETED_WITH_ERRORS", "\"ProcessedItemCount\":1101", "\"FailedItemCount\":1", "\"BulkPutBytes\":"]
    {
        assert!(done.contains(part), "{part} in {done}");
    }
    assert_eq!(items(&database).await, 900);
    // Two reports and four files of manifests.
    assert_eq!(place.files(&place.folder.join("s3/output")), 6);
}

#[tokio::test]
async fn a_paced_operation_waits_for_the_clock() {
    let place = Place::new();
    place.put("a", (0..5_000).map(item));
    let database = place.open();
    database.run("CreateTable", TABLE).await;
    let arn = start(&database, r#""MaxWriteRequestUnits":1024,"#).await;
    for second in 1..=4 {
        database.maintain().await;
        let put = items(&database).await;
        assert!((second * 1_024..second * 1_024 + 512).contains(&put), "{put} after {second} s");
        assert!(described(&database, &arn).await.contains("IN_PROGRESS"));
        database.advance_seconds(1);
    }
    database.maintain().await;
    assert!(described(&database, &arn).await.contains("COMPLETED"));
    assert_eq!(items(&database).await, 5_000);
}

#[tokio::test]
async fn a_cancelled_operation_ends_after_a_restart() {
    let place = Place::new();
    place.put("a", (0..5_000).map(item));
    let database = place.open();
    database.run("CreateTable", TABLE).await;
    let arn = start(&database, r#""MaxWriteRequestUnits":1024,"#).await;
    database.maintain().await;
    let cancel = format!(r#"{{"BulkOperationArn":"{arn}"}}"#);
    for _ in 0..2 {
        assert!(database.run("CancelBulkOperation", &cancel).await.contains("CANCELLING"));
    }
    assert!(described(&database, &arn).await.contains("CANCELLING"));
    assert!(database.run("ListBulkOperations", "{}").await.contains("CANCELLING"));
    let put = items(&database).await;
    let database = place.reopen(database);
    database.maintain().await;
    assert!(described(&database, &arn).await.contains("CANCELLED"));
    assert!(database.run("CancelBulkOperation", &cancel).await.contains("cannot be cancelled"));
    assert_eq!(items(&database).await, put);
}

#[tokio::test]
async fn old_operations_are_described_but_not_listed() {
    let place = Place::new();
    place.put("a", (0..1).map(item));
    let database = place.open();
    database.run("CreateTable", TABLE).await;
    let arn = start(&database, r#""ClientToken":"t","#).await;
    database.maintain().await;
    assert_eq!(start(&database, r#""ClientToken":"t","#).await, arn);
    database.advance_seconds(8 * 60 * 60);
    assert_ne!(start(&database, r#""ClientToken":"t","#).await, arn);
    database.advance_seconds(90 * 24 * 60 * 60 + 1);
    assert_eq!(database.run("ListBulkOperations", "{}").await, r#"{"BulkOperationsSummaryList":[]}"#);
    assert!(described(&database, &arn).await.contains("COMPLETED"));
}
