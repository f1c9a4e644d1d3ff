//! Backups, recovery, restores, deletions and trims, concurrent with writers. A journal bounds what a restored table may contain: at
//! least what was acknowledged before the moment, at most what was requested by then.
//!
//! `PARTITA_STRESS_SECONDS=1200 cargo test -p partita-engine --test engine history_stress` for a long run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_engine::maintenance::Progress;
use partita_store::Store;
use partita_store_embedded::{Durability, EmbeddedStore, Options, Pace};
use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const TABLES: usize = 6;
/// Pairs of items that change together.
const PAIRS: usize = 8;
const WRITERS: usize = 2;
const OPERATORS: usize = 2;

/// How often each pair was changed: requested, and acknowledged.
#[derive(Default)]
struct Journal {
    requested: [AtomicU64; PAIRS],
    acknowledged: [AtomicU64; PAIRS],
}

impl Journal {
    fn at(counts: &[AtomicU64; PAIRS]) -> [u64; PAIRS] {
        std::array::from_fn(|pair| counts[pair].load(Ordering::SeqCst))
    }
}

/// Whether a version exists: every fourth change is a deletion, and there is no item before the first.
fn exists(version: u64) -> bool {
    !version.is_multiple_of(4)
}

/// The possible states at a moment: each pair has a version within these bounds.
struct Bounds {
    table: usize,
    least: [u64; PAIRS],
    most: [u64; PAIRS],
}

impl Bounds {
    fn check(&self, found: &BTreeMap<String, u64>, what: &str) {
        for pair in 0..PAIRS {
            let (least, most) = (self.least[pair], self.most[pair]);
            let [one, other] = ["a", "b"].map(|half| found.get(&format!("{pair}{half}")).copied());
            let context = format!(
                "{what} of table {}, pair {pair}: {one:?} and {other:?}, {least}..={most}",
                self.table
            );
            assert_eq!(one, other, "{context}");
            match one {
                Some(version) => assert!(version >= least && version <= most && exists(version), "{context}"),
                None => assert!((least..=most).any(|version| !exists(version)), "{context}"),
            }
        }
    }
}

struct Stress<S> {
    engine: Engine<S>,
    journals: [Journal; TABLES],
    is_over: AtomicBool,
    restores: AtomicU64,
    changes: AtomicU64,
}

impl<S: Store> Stress<S> {
    fn new(store: S) -> Stress<S> {
        let engine = Engine::open(store, "us-east-1", Clock::System).unwrap();
        let (is_over, restores, changes) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        Stress { engine, journals: Default::default(), is_over, restores, changes }
    }

    async fn call(&self, operation: &str, body: Value) -> Value {
        let operation = Operation::from_name(operation).unwrap();
        let Ok(request) = partita_wire::decode(operation, body.to_string().as_bytes()) else {
            panic!("{operation:?} {body}");
        };
        let json = match self.engine.execute(request).await {
            Ok(response) => partita_wire::encode(&response),
            Err(exception) => partita_wire::encode_exception(&exception),
        };
        serde_json::from_slice(&json).unwrap_or(Value::Null)
    }

    async fn succeed(&self, operation: &str, body: Value) -> Value {
        let answer = self.call(operation, body.clone()).await;
        assert!(answer.get("__type").is_none(), "{operation} {body}: {answer}");
        answer
    }

    async fn create(&self, name: &str) {
        let table = json!({"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]});
        self.succeed("CreateTable", table).await;
    }

    /// Brings a pair to its next version, both items in one transaction.
    async fn change(&self, table: &str, journal: &Journal, pair: usize) {
        let version = journal.requested[pair].fetch_add(1, Ordering::SeqCst) + 1;
        let action = |half: &str| {
            let key = json!({"pk": {"S": format!("{pair}{half}")}});
            if exists(version) {
                let mut item = key;
                item["version"] = json!({"N": version.to_string()});
                json!({"Put": {"TableName": table, "Item": item}})
            } else {
                json!({"Delete": {"TableName": table, "Key": key}})
            }
        };
        self.succeed("TransactWriteItems", json!({"TransactItems": [action("a"), action("b")]})).await;
        journal.acknowledged[pair].store(version, Ordering::SeqCst);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    async fn write(&self, writer: usize) {
        let mut random = Random(writer as u64 + 1);
        while !self.is_over.load(Ordering::Relaxed) {
            let table = random.below(TABLES);
            let pair = random.below(PAIRS / WRITERS) * WRITERS + writer;
            self.change(&format!("Table{table}"), &self.journals[table], pair).await;
        }
    }

    async fn maintain(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            if self.engine.maintain().await.unwrap() == Progress::Done {
                std::thread::yield_now();
            }
        }
    }

    async fn restore(&self, operation: &str, mut request: Value, target: &str, bounds: &Bounds) {
        request["TargetTableName"] = target.into();
        self.succeed(operation, request).await;
        self.check_restored(target, bounds).await;
    }

    /// Waits for a restore, checks the table and deletes it again.
    async fn check_restored(&self, target: &str, bounds: &Bounds) {
        loop {
            let table = self.succeed("DescribeTable", json!({"TableName": target})).await;
            if table["Table"]["TableStatus"] == "ACTIVE" {
                break;
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::yield_now();
        }
        let found = self.succeed("Scan", json!({"TableName": target})).await;
        let version = |item: &Value| item["version"]["N"].as_str().unwrap().parse().unwrap();
        let found = found["Items"].as_array().unwrap().iter();
        let found = found.map(|item| (item["pk"]["S"].as_str().unwrap().to_owned(), version(item))).collect();
        bounds.check(&found, target);
        self.restores.fetch_add(1, Ordering::Relaxed);
        self.succeed("DeleteTable", json!({"TableName": target})).await;
    }

    async fn back_up(&self, table: usize) -> (String, Bounds) {
        let journal = &self.journals[table];
        let least = Journal::at(&journal.acknowledged);
        let request = json!({"TableName": format!("Table{table}"), "BackupName": "one"});
        let created = self.succeed("CreateBackup", request).await;
        let most = Journal::at(&journal.requested);
        (created["BackupDetails"]["BackupArn"].as_str().unwrap().to_owned(), Bounds { table, least, most })
    }

    /// Creates, restores and deletes backups; enables and disables recovery; restores the latest moment.
    async fn operate(&self, operator: usize) {
        let mut random = Random(operator as u64 + 100);
        let mut backups: Vec<(String, Bounds)> = Vec::new();
        let mut number = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            number += 1;
            let (target, table) = (format!("R{operator}-{number}"), random.below(TABLES));
            match random.below(12) {
                0..=3 => backups.push(self.back_up(table).await),
                4..=6 if !backups.is_empty() => {
                    let (arn, _) = backups.swap_remove(random.below(backups.len()));
                    self.succeed("DeleteBackup", json!({"BackupArn": arn})).await;
                }
                7..=9 if !backups.is_empty() => {
                    let (arn, bounds) = &backups[random.below(backups.len())];
                    let request = json!({"BackupArn": arn});
                    self.restore("RestoreTableFromBackup", request, &target, bounds).await;
                }
                // Each operator controls recovery of its own tables.
                10 if table % OPERATORS == operator => {
                    let on = random.below(2) == 0;
                    let request = json!({"TableName": format!("Table{table}"),
                        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": on}});
                    self.succeed("UpdateContinuousBackups", request).await;
                }
                11 if number % 3 == 0 => self.restore_deleted_table(&target).await,
                11 => self.restore_latest(table, &target).await,
                _ => {}
            }
        }
    }

    async fn restore_latest(&self, table: usize, target: &str) {
        let name = format!("Table{table}");
        let described = self.succeed("DescribeContinuousBackups", json!({"TableName": name})).await;
        let recovery = &described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
        if recovery["PointInTimeRecoveryStatus"] != "ENABLED"
            || table % OPERATORS != usize::from(target.starts_with("R1"))
        {
            return;
        }
        let least = Journal::at(&self.journals[table].acknowledged);
        let request =
            json!({"SourceTableName": name, "UseLatestRestorableTime": true, "TargetTableName": target});
        self.succeed("RestoreTableToPointInTime", request).await;
        // Everything requested before the response may be included.
        let most = Journal::at(&self.journals[table].requested);
        self.check_restored(target, &Bounds { table, least, most }).await;
    }

    /// Restores a backup of a deleted table.
    async fn restore_deleted_table(&self, target: &str) {
        let (name, journal) = (format!("Deleted-{target}"), Journal::default());
        self.create(&name).await;
        for round in 0..5 {
            for pair in 0..PAIRS - round {
                self.change(&name, &journal, pair).await;
            }
        }
        let created = self.succeed("CreateBackup", json!({"TableName": name, "BackupName": "last"})).await;
        let versions = Journal::at(&journal.acknowledged);
        self.change(&name, &journal, 0).await;
        self.succeed("DeleteTable", json!({"TableName": name})).await;
        let arn = created["BackupDetails"]["BackupArn"].as_str().unwrap();
        let bounds = Bounds { table: TABLES, least: versions, most: versions };
        self.restore("RestoreTableFromBackup", json!({"BackupArn": arn}), target, &bounds).await;
        if !self.is_over.load(Ordering::Relaxed) {
            self.succeed("DeleteBackup", json!({"BackupArn": arn})).await;
        }
    }
}

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// Ends all threads when one of them ends or panics.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn stress<S: Store>(store: S) {
    let seconds = std::env::var("PARTITA_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(4));
    let stress = &Stress::new(store);
    run(async {
        for table in 0..TABLES {
            stress.create(&format!("Table{table}")).await;
        }
    });
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            spawn(scope, stress, move |stress| run(stress.write(writer)));
        }
        for operator in 0..OPERATORS {
            spawn(scope, stress, move |stress| run(stress.operate(operator)));
        }
        spawn(scope, stress, |stress| run(stress.maintain()));
        let started = Instant::now();
        while started.elapsed() < length && !stress.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stress.is_over.store(true, Ordering::Relaxed);
    });
    let (restores, changes) =
        (stress.restores.load(Ordering::Relaxed), stress.changes.load(Ordering::Relaxed));
    println!("{restores} restores during {changes} changes");
    assert!(restores > 0 && changes > 0);
}

fn spawn<'scope, S: Store>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    stress: &'scope Stress<S>,
    work: impl FnOnce(&'scope Stress<S>) + Send + 'scope,
) {
    scope.spawn(move || {
        let _end = EndOnDrop(&stress.is_over);
        work(stress);
    });
}

#[test]
fn restores_are_correct_during_writes_in_memory() {
    stress(MemoryStore::new());
}

#[test]
fn restores_are_correct_during_writes_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::Relaxed };
    stress(EmbeddedStore::open_with_pace(folder.path(), options, Pace::Eager).unwrap());
}
