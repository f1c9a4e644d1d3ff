//! Exports and imports are listed for 90 days after they ended, and their client tokens hold eight hours.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_store::{Direction, KeyRange, Snapshot, Store};
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use support::Database;

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;
const TABLE: &str = r#"{"TableName": "Exported", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}"#;

fn open(folder: &Path) -> EmbeddedStore {
    EmbeddedStore::open(&folder.join("data"), Options { durability: Durability::Relaxed }).unwrap()
}

fn database(folder: &Path) -> Database<EmbeddedStore> {
    let database = Database::new(open(folder));
    std::fs::create_dir_all(folder.join("s3/b-1")).unwrap();
    database.engine.set_buckets(Arc::new(BucketFolders(folder.join("s3"))));
    database
}

/// How many exports, imports and tokens are stored once the engine is gone.
fn rows_left(database: Database<EmbeddedStore>, folder: &Path) -> usize {
    drop(database);
    let mut count = 0;
    let range = KeyRange { start: 6u32.to_be_bytes().to_vec(), end: 7u32.to_be_bytes().to_vec() };
    let visit = |_: &[u8], _: &[u8]| {
        count += 1;
        ControlFlow::Continue(())
    };
    open(folder).snapshot().unwrap().range(&range, Direction::Ascending, visit).unwrap();
    count
}

/// A table that can be exported.
async fn create_table(database: &Database<EmbeddedStore>) {
    database.run("CreateTable", TABLE).await;
    let on = r#"{"TableName": "Exported", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}"#;
    database.run("UpdateContinuousBackups", on).await;
}

async fn export(database: &Database<EmbeddedStore>, token: &str) -> String {
    let request = format!(
        r#"{{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Exported", "S3Bucket": "b-1", "ClientToken": "{token}"}}"#
    );
    let answer = database.run("ExportTableToPointInTime", &request).await;
    let (_, rest) = answer.split_once("\"ExportArn\":\"").unwrap_or_else(|| panic!("{answer}"));
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn exports_and_imports_are_forgotten_after_ninety_days() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    create_table(&database).await;
    let first = export(&database, "one").await;
    let import = format!(
        r#"{{"S3BucketSource": {{"S3Bucket": "b-1"}}, "InputFormat": "ION", "TableCreationParameters": {}}}"#,
        TABLE.replace("Exported", "Imported")
    );
    let answer = database.run("ImportTable", &import).await;
    assert!(answer.contains("IN_PROGRESS"), "{answer}");
    database.maintain().await;
    database.advance_seconds(40 * DAY);
    let second = export(&database, "two").await;
    database.maintain().await;
    database.advance_seconds(50 * DAY - 1);
    database.maintain().await;
    let listed = database.run("ListExports", "{}").await;
    assert!(listed.contains(&first) && listed.contains(&second), "{listed}");
    assert!(database.run("ListImports", "{}").await.contains("ImportArn"));
    database.advance_seconds(2);
    database.maintain().await;
    let listed = database.run("ListExports", "{}").await;
    assert!(!listed.contains(&first) && listed.contains(&second), "{listed}");
    let described = database.run("DescribeExport", &format!(r#"{{"ExportArn": "{first}"}}"#)).await;
    assert!(described.contains("ExportNotFoundException"), "{described}");
    assert!(!database.run("ListImports", "{}").await.contains("ImportArn"));
    database.advance_seconds(40 * DAY);
    database.maintain().await;
    assert_eq!(rows_left(database, folder.path()), 0);
}

#[tokio::test]
async fn what_has_not_ended_is_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    create_table(&database).await;
    let arn = export(&database, "one").await;
    database.advance_seconds(100 * DAY);
    database.maintain().await;
    let described = database.run("DescribeExport", &format!(r#"{{"ExportArn": "{arn}"}}"#)).await;
    assert!(described.contains("COMPLETED"), "{described}");
}

#[tokio::test]
async fn tokens_are_forgotten_once_they_have_lapsed() {
    const EXPORTS: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    // Without buckets: exports fail at once.
    let database = Database::new(open(folder.path()));
    create_table(&database).await;
    for number in 0..EXPORTS {
        export(&database, &format!("token {number}")).await;
    }
    let held = export(&database, "token 1").await;
    database.advance_seconds(8 * HOUR);
    let again = export(&database, "token 1").await;
    assert_ne!(held, again);
    for _ in 0..10 {
        database.maintain().await;
    }
    assert_eq!(export(&database, "token 1").await, again);
    assert_eq!(rows_left(database, folder.path()), EXPORTS + 2, "every export, the new one and its token");
}
