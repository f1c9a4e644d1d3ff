//! Backups, recovery, restores, deletions and trims beside writers that do not wait for them. What a restored table may hold is
//! bounded by a journal: not less than what was acknowledged before the moment, not more than what was asked for after it.
//!
//! `PARTITA_STRESS_SECONDS=1200 cargo test -p partita-engine --test engine history_stress` for long.

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
/// Two items each, which change together.
const PAIRS: usize = 8;
const WRITERS: usize = 2;
const KEEPERS: usize = 2;

/// How often each pair has changed: asked for, and acknowledged.
#[derive(Default)]
struct Journal {
    asked: [AtomicU64; PAIRS],
    done: [AtomicU64; PAIRS],
}

impl Journal {
    fn at(counts: &[AtomicU64; PAIRS]) -> [u64; PAIRS] {
        std::array::from_fn(|pair| counts[pair].load(Ordering::SeqCst))
    }
}

/// Every fourth change deletes; before the first there is nothing.
fn is_there(version: u64) -> bool {
    !version.is_multiple_of(4)
}

/// A moment that somebody has a picture of: each pair has one of the versions between.
struct Picture {
    table: usize,
    least: [u64; PAIRS],
    most: [u64; PAIRS],
}

impl Picture {
    fn check(&self, found: &BTreeMap<String, u64>, what: &str) {
        for pair in 0..PAIRS {
            let (least, most) = (self.least[pair], self.most[pair]);
            let [one, other] = ["a", "b"].map(|half| found.get(&format!("{pair}{half}")).copied());
            let place = format!(
                "{what} of table {}, pair {pair}: {one:?} and {other:?}, {least}..={most}",
                self.table
            );
            assert_eq!(one, other, "{place}");
            match one {
                Some(version) => assert!(version >= least && version <= most && is_there(version), "{place}"),
                None => assert!((least..=most).any(|version| !is_there(version)), "{place}"),
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

    async fn ask(&self, operation: &str, body: Value) -> Value {
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

    async fn done(&self, operation: &str, body: Value) -> Value {
        let answer = self.ask(operation, body.clone()).await;
        assert!(answer.get("__type").is_none(), "{operation} {body}: {answer}");
        answer
    }

    async fn create(&self, name: &str) {
        let table = json!({"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]});
        self.done("CreateTable", table).await;
    }

    /// Brings a pair to its next version, both items at once.
    async fn change(&self, table: &str, journal: &Journal, pair: usize) {
        let version = journal.asked[pair].fetch_add(1, Ordering::SeqCst) + 1;
        let action = |half: &str| {
            let key = json!({"pk": {"S": format!("{pair}{half}")}});
            if is_there(version) {
                let mut item = key;
                item["version"] = json!({"N": version.to_string()});
                json!({"Put": {"TableName": table, "Item": item}})
            } else {
                json!({"Delete": {"TableName": table, "Key": key}})
            }
        };
        self.done("TransactWriteItems", json!({"TransactItems": [action("a"), action("b")]})).await;
        journal.done[pair].store(version, Ordering::SeqCst);
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

    async fn restore(&self, operation: &str, mut request: Value, target: &str, picture: &Picture) {
        request["TargetTableName"] = target.into();
        self.done(operation, request).await;
        self.check_restored(target, picture).await;
    }

    /// Waits for a restore, compares, and deletes the table again.
    async fn check_restored(&self, target: &str, picture: &Picture) {
        loop {
            let table = self.done("DescribeTable", json!({"TableName": target})).await;
            if table["Table"]["TableStatus"] == "ACTIVE" {
                break;
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::yield_now();
        }
        let found = self.done("Scan", json!({"TableName": target})).await;
        let version = |item: &Value| item["version"]["N"].as_str().unwrap().parse().unwrap();
        let found = found["Items"].as_array().unwrap().iter();
        let found = found.map(|item| (item["pk"]["S"].as_str().unwrap().to_owned(), version(item))).collect();
        picture.check(&found, target);
        self.restores.fetch_add(1, Ordering::Relaxed);
        self.done("DeleteTable", json!({"TableName": target})).await;
    }

    async fn back_up(&self, table: usize) -> (String, Picture) {
        let journal = &self.journals[table];
        let least = Journal::at(&journal.done);
        let request = json!({"TableName": format!("Table{table}"), "BackupName": "one"});
        let made = self.done("CreateBackup", request).await;
        let most = Journal::at(&journal.asked);
        (made["BackupDetails"]["BackupArn"].as_str().unwrap().to_owned(), Picture { table, least, most })
    }

    /// Makes backups, restores and forgets them; turns recovery on and off; restores the latest moment.
    async fn keep(&self, keeper: usize) {
        let mut random = Random(keeper as u64 + 100);
        let mut backups: Vec<(String, Picture)> = Vec::new();
        let mut number = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            number += 1;
            let (target, table) = (format!("R{keeper}-{number}"), random.below(TABLES));
            match random.below(12) {
                0..=3 => backups.push(self.back_up(table).await),
                4..=6 if !backups.is_empty() => {
                    let (arn, _) = backups.swap_remove(random.below(backups.len()));
                    self.done("DeleteBackup", json!({"BackupArn": arn})).await;
                }
                7..=9 if !backups.is_empty() => {
                    let (arn, picture) = &backups[random.below(backups.len())];
                    let request = json!({"BackupArn": arn});
                    self.restore("RestoreTableFromBackup", request, &target, picture).await;
                }
                // Each keeper has tables whose recovery is its own.
                10 if table % KEEPERS == keeper => {
                    let on = random.below(2) == 0;
                    let request = json!({"TableName": format!("Table{table}"),
                        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": on}});
                    self.done("UpdateContinuousBackups", request).await;
                }
                11 if number % 3 == 0 => self.outlive_a_table(&target).await,
                11 => self.restore_latest(table, &target).await,
                _ => {}
            }
        }
    }

    async fn restore_latest(&self, table: usize, target: &str) {
        let name = format!("Table{table}");
        let described = self.done("DescribeContinuousBackups", json!({"TableName": name})).await;
        let recovery = &described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
        if recovery["PointInTimeRecoveryStatus"] != "ENABLED"
            || table % KEEPERS != usize::from(target.starts_with("R1"))
        {
            return;
        }
        let least = Journal::at(&self.journals[table].done);
        let request =
            json!({"SourceTableName": name, "UseLatestRestorableTime": true, "TargetTableName": target});
        self.done("RestoreTableToPointInTime", request).await;
        // What was asked for until the answer may be in it.
        let most = Journal::at(&self.journals[table].asked);
        self.check_restored(target, &Picture { table, least, most }).await;
    }

    /// A backup of a table that is deleted.
    async fn outlive_a_table(&self, target: &str) {
        let (name, journal) = (format!("Gone-{target}"), Journal::default());
        self.create(&name).await;
        for round in 0..5 {
            for pair in 0..PAIRS - round {
                self.change(&name, &journal, pair).await;
            }
        }
        let made = self.done("CreateBackup", json!({"TableName": name, "BackupName": "last"})).await;
        let versions = Journal::at(&journal.done);
        self.change(&name, &journal, 0).await;
        self.done("DeleteTable", json!({"TableName": name})).await;
        let arn = made["BackupDetails"]["BackupArn"].as_str().unwrap();
        let picture = Picture { table: TABLES, least: versions, most: versions };
        self.restore("RestoreTableFromBackup", json!({"BackupArn": arn}), target, &picture).await;
        if !self.is_over.load(Ordering::Relaxed) {
            self.done("DeleteBackup", json!({"BackupArn": arn})).await;
        }
    }
}

/// A small generator (xorshift).
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

/// Ends the others also when one of the threads fails.
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
        for keeper in 0..KEEPERS {
            spawn(scope, stress, move |stress| run(stress.keep(keeper)));
        }
        spawn(scope, stress, |stress| run(stress.maintain()));
        let begun = Instant::now();
        while begun.elapsed() < length && !stress.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stress.is_over.store(true, Ordering::Relaxed);
    });
    let (restores, changes) =
        (stress.restores.load(Ordering::Relaxed), stress.changes.load(Ordering::Relaxed));
    println!("{restores} restores beside {changes} changes");
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
fn restores_are_right_beside_writers_in_memory() {
    stress(MemoryStore::new());
}

#[test]
fn restores_are_right_beside_writers_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::Relaxed };
    stress(EmbeddedStore::open_with_pace(folder.path(), options, Pace::Eager).unwrap());
}
