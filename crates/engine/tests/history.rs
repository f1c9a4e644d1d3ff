//! Histories: a restored table equals what the table was, whatever was written, trimmed, pinned or deleted since; and what
//! is not needed goes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_store::{Direction, KeyRange, Snapshot, Store};
use partita_store_embedded::{EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use support::Database;

/// Items by their keys.
type Image = BTreeMap<String, Value>;

fn key(pk: u8, sk: u8) -> Value {
    json!({"pk": {"S": format!("p{pk}")}, "sk": {"S": "s".repeat(sk.into())+"-"}})
}

fn item(pk: u8, sk: u8, value: u8) -> Value {
    let mut item = key(pk, sk);
    item["weight"] = json!({"N": value.to_string()});
    item
}

impl<S: Store> Database<S> {
    async fn done(&self, operation: &str, body: Value) -> Value {
        let answer = self.ask(operation, body).await;
        assert!(answer.get("__type").is_none(), "{operation}: {answer}");
        answer
    }

    async fn create_with_index(&self, name: &str) {
        let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
        let index = json!({"IndexName": "byWeight", "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "weight", "KeyType": "HASH"}]});
        let table = json!({"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [definition("pk", "S"), definition("sk", "S"), definition("weight", "N")],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "GlobalSecondaryIndexes": [index]});
        self.done("CreateTable", table).await;
    }

    async fn image(&self, table: &str, index: Option<&str>) -> Image {
        let mut items = Image::new();
        let mut request = json!({"TableName": table, "Limit": 7});
        index.into_iter().for_each(|index| request["IndexName"] = index.into());
        loop {
            let page = self.done("Scan", request.clone()).await;
            for item in page["Items"].as_array().unwrap() {
                items.insert(format!("{}/{}", item["pk"]["S"], item["sk"]["S"]), item.clone());
            }
            match page.get("LastEvaluatedKey") {
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
                None => return items,
            }
        }
    }

    fn now(&self) -> u64 {
        self.millis.load(Ordering::Relaxed)
    }

    async fn set_recovery(&self, enabled: bool, days: u32) {
        let mut specification = json!({"PointInTimeRecoveryEnabled": enabled});
        if enabled {
            specification["RecoveryPeriodInDays"] = days.into();
        }
        let request = json!({"TableName": "Kept", "PointInTimeRecoverySpecification": specification});
        self.done("UpdateContinuousBackups", request).await;
    }

    async fn back_up(&self) -> String {
        let made = self.done("CreateBackup", json!({"TableName": "Kept", "BackupName": "one"})).await;
        made["BackupDetails"]["BackupArn"].as_str().unwrap().to_owned()
    }

    /// Restores, compares and deletes again.
    async fn check_restore(&self, operation: &str, mut request: Value, expected: &Image) {
        request["TargetTableName"] = "Restored".into();
        self.done(operation, request).await;
        self.maintain().await;
        assert_eq!(self.image("Restored", None).await, *expected, "{operation}");
        assert_eq!(self.image("Restored", Some("byWeight")).await, *expected, "{operation}");
        let described = self.done("DescribeTable", json!({"TableName": "Restored"})).await;
        assert_eq!(described["Table"]["ItemCount"], expected.len());
        self.done("DeleteTable", json!({"TableName": "Restored"})).await;
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put {
        pk: u8,
        sk: u8,
        value: u8,
    },
    Delete {
        pk: u8,
        sk: u8,
    },
    Batch(BTreeMap<(u8, u8), Option<u8>>),
    Transaction(BTreeMap<(u8, u8), Option<u8>>),
    /// Milliseconds, which may be none.
    Wait(u64),
    WaitDays(u64),
    BackUp,
    ForgetBackup(usize),
    RestoreBackup(usize),
    RecoveryOn(u32),
    RecoveryOff,
    RestoreAt(usize),
    RestoreLatest,
    DeleteTable,
    Maintain,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let many = || prop::collection::btree_map((0u8..5, 0u8..4), prop::option::of(0u8..3), 1..9);
    let step = prop_oneof![
        10 => (0u8..5, 0u8..4, 0u8..3).prop_map(|(pk, sk, value)| Step::Put { pk, sk, value }),
        5 => (0u8..5, 0u8..4).prop_map(|(pk, sk)| Step::Delete { pk, sk }),
        4 => many().prop_map(Step::Batch),
        4 => many().prop_map(Step::Transaction),
        5 => (0u64..3_000).prop_map(Step::Wait),
        1 => (1u64..3).prop_map(Step::WaitDays),
        5 => Just(Step::BackUp),
        2 => (0usize..9).prop_map(Step::ForgetBackup),
        4 => (0usize..9).prop_map(Step::RestoreBackup),
        3 => (1u32..4).prop_map(Step::RecoveryOn),
        1 => Just(Step::RecoveryOff),
        5 => (0usize..99).prop_map(Step::RestoreAt),
        1 => Just(Step::RestoreLatest),
        1 => Just(Step::DeleteTable),
        3 => Just(Step::Maintain),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

/// What the test knows: the table's past.
#[derive(Default)]
struct Known {
    backups: Vec<(String, Image)>,
    /// While recovery is on: since when, for how many days, and what the table was after each step.
    recovery: Option<(u64, u32)>,
    past: Vec<(u64, Image)>,
}

async fn write_many<S: Store>(database: &Database<S>, step: &Step) {
    let (name, items, put, delete) = match step {
        Step::Batch(items) => ("BatchWriteItem", items, "PutRequest", "DeleteRequest"),
        Step::Transaction(items) => ("TransactWriteItems", items, "Put", "Delete"),
        _ => return,
    };
    let mut writes = Vec::new();
    for ((pk, sk), value) in items {
        let mut write = match value {
            Some(value) => json!({ put: {"Item": item(*pk, *sk, *value)} }),
            None => json!({ delete: {"Key": key(*pk, *sk)} }),
        };
        if name == "TransactWriteItems" {
            write[if value.is_some() { put } else { delete }]["TableName"] = "Kept".into();
        }
        writes.push(write);
    }
    let body = match name {
        "BatchWriteItem" => json!({"RequestItems": {"Kept": writes}}),
        _ => json!({"TransactItems": writes}),
    };
    database.done(name, body).await;
}

impl Known {
    async fn take<S: Store>(&mut self, database: &Database<S>, step: &Step) {
        match step {
            Step::Put { pk, sk, value } => {
                let item = item(*pk, *sk, *value);
                database.done("PutItem", json!({"TableName": "Kept", "Item": item})).await;
            }
            Step::Delete { pk, sk } => {
                database.done("DeleteItem", json!({"TableName": "Kept", "Key": key(*pk, *sk)})).await;
            }
            Step::Batch(_) | Step::Transaction(_) => write_many(database, step).await,
            Step::Wait(millis) => {
                database.millis.fetch_add(*millis, Ordering::Relaxed);
            }
            Step::WaitDays(days) => database.advance_seconds(days * 86_400),
            Step::BackUp => {
                let arn = database.back_up().await;
                self.backups.push((arn, database.image("Kept", None).await));
            }
            Step::ForgetBackup(at) if *at < self.backups.len() => {
                let (arn, _) = self.backups.remove(*at);
                database.done("DeleteBackup", json!({"BackupArn": arn})).await;
            }
            Step::RestoreBackup(at) if *at < self.backups.len() => {
                let (arn, image) = &self.backups[*at];
                database.check_restore("RestoreTableFromBackup", json!({"BackupArn": arn}), image).await;
            }
            Step::RecoveryOn(days) => {
                database.set_recovery(true, *days).await;
                let now = database.now();
                let since = match self.recovery {
                    Some((since, days)) => since.max(now - u64::from(days) * 86_400_000),
                    None => now,
                };
                self.recovery = Some((since, *days));
            }
            Step::RecoveryOff => {
                database.set_recovery(false, 0).await;
                self.forget_past();
            }
            Step::RestoreAt(at) => self.restore_at(database, *at).await,
            Step::RestoreLatest if self.recovery.is_some() => {
                let request = json!({"SourceTableName": "Kept", "UseLatestRestorableTime": true});
                let image = database.image("Kept", None).await;
                database.check_restore("RestoreTableToPointInTime", request, &image).await;
            }
            Step::DeleteTable => self.delete_table(database).await,
            Step::Maintain => database.maintain().await,
            _ => {}
        }
        self.remember(database).await;
    }

    fn forget_past(&mut self) {
        self.recovery = None;
        self.past.clear();
    }

    /// What a moment showed last counts.
    async fn remember<S: Store>(&mut self, database: &Database<S>) {
        if self.recovery.is_some() {
            let now = database.now();
            self.past.retain(|(millis, _)| *millis != now);
            self.past.push((now, database.image("Kept", None).await));
        }
    }

    async fn restore_at<S: Store>(&self, database: &Database<S>, at: usize) {
        let (Some((since, days)), Some((millis, image))) = (self.recovery, self.past.get(at)) else { return };
        if *millis == database.now() {
            // What is written in this millisecond belongs to it or not.
            return;
        }
        let earliest = since.max(database.now() - u64::from(days) * 86_400_000);
        let request = json!({"SourceTableName": "Kept", "RestoreDateTime": *millis as f64 / 1_000.0});
        if *millis >= earliest {
            database.check_restore("RestoreTableToPointInTime", request, image).await;
        } else if millis / 1_000 < earliest / 1_000 {
            let mut request = request;
            request["TargetTableName"] = "Restored".into();
            let refused = database.ask("RestoreTableToPointInTime", request).await;
            assert!(refused["__type"].as_str().unwrap().ends_with("InvalidRestoreTimeException"));
        }
    }

    /// The table goes and another comes; backups stay, and one more is made if recovery was on.
    async fn delete_table<S: Store>(&mut self, database: &Database<S>) {
        let last = database.image("Kept", None).await;
        database.done("DeleteTable", json!({"TableName": "Kept"})).await;
        if self.recovery.is_some() {
            let request = json!({"TableName": "Kept", "BackupType": "SYSTEM"});
            let listed = database.done("ListBackups", request).await;
            let arn = listed["BackupSummaries"].as_array().unwrap().last().unwrap()["BackupArn"].clone();
            database.check_restore("RestoreTableFromBackup", json!({"BackupArn": arn}), &last).await;
        }
        self.forget_past();
        database.create_with_index("Kept").await;
    }
}

/// Takes the steps, then restores all there is to restore.
async fn restores_show_the_past<S: Store>(steps: Vec<Step>, open: impl Fn() -> S, can_reopen: bool) {
    let mut database = Database::new(open());
    database.create_with_index("Kept").await;
    let mut known = Known::default();
    for step in steps {
        match step {
            Step::Reopen if can_reopen => database = database.reopen(&open),
            step => known.take(&database, &step).await,
        }
    }
    database.advance_seconds(1);
    for at in 0..known.past.len() {
        known.restore_at(&database, at).await;
    }
    for (arn, image) in &known.backups {
        database.check_restore("RestoreTableFromBackup", json!({"BackupArn": arn}), image).await;
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn restores_show_the_past_in_memory(steps in steps()) {
        runtime().block_on(restores_show_the_past(steps, MemoryStore::new, false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn restores_show_the_past_on_disk(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let open = || EmbeddedStore::open(folder.path(), Options::default()).unwrap();
        runtime().block_on(restores_show_the_past(steps, open, true));
    }
}

/// How many rows a closed store holds.
fn stored_rows(folder: &std::path::Path) -> usize {
    let store = EmbeddedStore::open(folder, Options::default()).unwrap();
    let mut rows = 0;
    let all = KeyRange { start: vec![], end: vec![255; 5] };
    let count = |_: &[u8], _: &[u8]| {
        rows += 1;
        ControlFlow::Continue(())
    };
    store.snapshot().unwrap().range(&all, Direction::Ascending, count).unwrap();
    rows
}

#[tokio::test]
async fn what_nobody_needs_goes() {
    let folder = tempfile::tempdir().unwrap();
    let open = || EmbeddedStore::open(folder.path(), Options::default()).unwrap();
    let mut database = Database::new(open());
    database.create_with_index("Kept").await;
    let put = async |database: &Database<EmbeddedStore>, value: u8| {
        for pk in 0..50 {
            let request = json!({"TableName": "Kept", "Item": item(pk, 0, value)});
            database.done("PutItem", request).await;
        }
    };
    put(&database, 1).await;
    drop(database);
    let plain = stored_rows(folder.path());

    // A backup keeps the first change of an item, and goes.
    database = Database::new(open());
    let (first, second) = (database.back_up().await, database.back_up().await);
    put(&database, 2).await;
    put(&database, 3).await;
    drop(database);
    assert_eq!(
        stored_rows(folder.path()),
        plain + 50 + 5,
        "rows of 50 items, 2 backups, a history and its copy, a moment"
    );
    database = Database::new(open());
    database.done("DeleteBackup", json!({"BackupArn": first})).await;
    database.maintain().await;
    database.done("DeleteBackup", json!({"BackupArn": second})).await;
    database.maintain().await;
    drop(database);
    assert_eq!(stored_rows(folder.path()), plain);

    // Recovery keeps every change, for a day.
    database = Database::new(open());
    database.set_recovery(true, 1).await;
    put(&database, 4).await;
    put(&database, 5).await;
    database.advance_seconds(2 * 86_400);
    put(&database, 6).await;
    database.maintain().await;
    drop(database);
    assert_eq!(
        stored_rows(folder.path()),
        plain + 50 + 3,
        "rows of 50 items, a history and its copy, a moment"
    );

    // A deleted table's last backup expires.
    database = Database::new(open());
    database.advance_seconds(3 * 86_400);
    database.done("DeleteTable", json!({"TableName": "Kept"})).await;
    database.maintain().await;
    let listed = database.done("ListBackups", json!({"BackupType": "ALL"})).await;
    assert_eq!(listed["BackupSummaries"][0]["BackupName"], "Kept$DeletedTableBackup");
    database.advance_seconds(36 * 86_400);
    database.maintain().await;
    let listed = database.done("ListBackups", json!({"BackupType": "ALL"})).await;
    assert_eq!(listed["BackupSummaries"], json!([]));
    database.maintain().await;
    drop(database);
    assert_eq!(stored_rows(folder.path()), 2, "the next free space and its copy");
}
