//! Verification finds nothing in a consistent database, and every planted fault.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_engine::verify::{FindingKind, Pace, repair};
use partita_store::{
    Counters, Damage, Decision, Direction, Health, KeyRange, Rows, Snapshot as _, Store, StoreError, Usage,
    Write,
};
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use partita_store_memory::{MemoryStore, Snapshot};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::Database;

/// A store in memory that the test modifies without the engine.
#[derive(Clone, Default)]
struct Shared(Arc<MemoryStore>);

impl Store for Shared {
    type Snapshot<'a> = Snapshot;

    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.0.snapshot()
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.0.decide(keys, decision)
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        self.0.usage()
    }

    fn health(&self) -> Health {
        self.0.health()
    }
}

impl Shared {
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.snapshot().unwrap().get(key).unwrap().map(|row| row.into_owned())
    }

    async fn set(&self, key: &[u8], row: Option<Vec<u8>>) {
        let write = match row {
            Some(value) => Write::Put { key: key.to_vec(), value },
            None => Write::Delete { key: key.to_vec() },
        };
        self.decide(Vec::new(), move |_| Decision::commit(vec![write.clone()], ())).await.unwrap();
    }

    /// The rows of a space, in order.
    fn rows(&self, space: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        let range = KeyRange { start: space.to_be_bytes().to_vec(), end: (space + 1).to_be_bytes().to_vec() };
        let visit = |key: &[u8], row: &[u8]| {
            rows.push((key.to_vec(), row.to_vec()));
            ControlFlow::Continue(())
        };
        let damaged = |_: Damage| ControlFlow::Continue(());
        let snapshot = self.snapshot().unwrap();
        snapshot.range_past_damage(&range, Direction::Ascending, visit, damaged).unwrap();
        rows
    }

    fn first_key(&self, space: u32) -> Vec<u8> {
        self.rows(space)[0].0.clone()
    }

    fn table_record(&self) -> Value {
        let row = self.get(&key_in(0, b"\x01Orders")).unwrap();
        serde_json::from_slice(&row).unwrap()
    }
}

fn key_in(space: u32, within: &[u8]) -> Vec<u8> {
    [&space.to_be_bytes()[..], within].concat()
}

fn counters_key(space: u32) -> Vec<u8> {
    key_in(1, &space.to_be_bytes())
}

fn order(customer: u32, number: u32) -> Value {
    json!({
        "customer": {"S": format!("c{customer}")}, "number": {"N": number.to_string()},
        "state": {"S": format!("s{}", number % 3)}, "total": {"N": (number * 7).to_string()},
        "until": {"N": (1_800_000_000 + number).to_string()}, "note": {"S": "x".repeat(number as usize)},
    })
}

/// A table with every feature, and a history.
async fn filled<S: Store>(store: S) -> Database<S> {
    let database = Database::new(store);
    let element = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
    database.succeed("CreateTable", json!({
        "TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            definition("customer", "S"), definition("number", "N"), definition("state", "S"), definition("total", "N"),
        ],
        "KeySchema": [element("customer", "HASH"), element("number", "RANGE")],
        "LocalSecondaryIndexes": [{
            "IndexName": "byTotal", "KeySchema": [element("customer", "HASH"), element("total", "RANGE")],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }],
        "GlobalSecondaryIndexes": [{
            "IndexName": "byState", "KeySchema": [element("state", "HASH")], "Projection": {"ProjectionType": "ALL"},
        }],
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }))
    .await;
    let ttl = json!({"Enabled": true, "AttributeName": "until"});
    database
        .succeed("UpdateTimeToLive", json!({"TableName": "Orders", "TimeToLiveSpecification": ttl}))
        .await;
    let recovery = json!({"PointInTimeRecoveryEnabled": true});
    let request = json!({"TableName": "Orders", "PointInTimeRecoverySpecification": recovery});
    database.succeed("UpdateContinuousBackups", request).await;
    for number in 0..60 {
        database.succeed("PutItem", json!({"TableName": "Orders", "Item": order(number % 4, number)})).await;
    }
    database.succeed("CreateBackup", json!({"TableName": "Orders", "BackupName": "before"})).await;
    for number in 0..20 {
        let mut changed = order(number % 4, number);
        changed["state"] = json!({"S": "changed"});
        let put = json!({"Put": {"TableName": "Orders", "Item": changed}});
        let request = json!({"TransactItems": [put], "ClientRequestToken": format!("t{number}")});
        database.succeed("TransactWriteItems", request).await;
    }
    for number in 0..5 {
        let key = json!({"customer": {"S": format!("c{}", number % 4)}, "number": {"N": number.to_string()}});
        database.succeed("DeleteItem", json!({"TableName": "Orders", "Key": key})).await;
    }
    database.maintain().await;
    database
}

/// The spaces of the table and everything that belongs to it.
struct Spaces {
    items: u32,
    local: u32,
    global: u32,
    collections: u32,
    expiry: u32,
    history: u32,
    stream: u32,
}

impl Spaces {
    fn of(store: &Shared) -> Spaces {
        let record = store.table_record();
        let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        let (stream_key, _) = store.rows(0).into_iter().find(|(key, _)| key[4] == 3).unwrap();
        Spaces {
            items: number(&record["space"]),
            local: number(&record["local_indexes"][0]["space"]),
            global: number(&record["global_indexes"][0]["space"]),
            collections: number(&record["collections"]),
            expiry: number(&record["time_to_live"]["space"]),
            history: number(&record["history"]),
            stream: u32::from_be_bytes(stream_key[5..9].try_into().unwrap()),
        }
    }
}

/// Replaces a row, verifies the database, and restores the row.
async fn plant(
    database: &Database<Shared>,
    store: &Shared,
    key: Vec<u8>,
    row: Option<Vec<u8>>,
) -> Vec<FindingKind> {
    let before = store.get(&key);
    assert_ne!(before, row, "the row does not change");
    store.set(&key, row).await;
    let mut kinds: Vec<_> =
        database.findings(Pace::EXCLUSIVE).into_iter().map(|finding| finding.kind).collect();
    kinds.sort();
    store.set(&key, before).await;
    kinds
}

#[tokio::test]
async fn faults_in_items_and_entries_are_found() {
    use FindingKind::*;
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let spaces = Spaces::of(&store);

    // A lost item leaves its index entries and expiry entry, and wrong totals.
    let item = store.first_key(spaces.items);
    let found = plant(&database, &store, item.clone(), None).await;
    assert_eq!(found, [StaleEntry, StaleEntry, StaleEntry, WrongCounter, WrongCollection]);
    let mut cut = store.get(&item).unwrap();
    cut.pop();
    assert_eq!(plant(&database, &store, item.clone(), Some(cut)).await, [Undecodable]);
    let (_, other) = store.rows(spaces.items)[1].clone();
    let found = plant(&database, &store, item, Some(other)).await;
    assert!(found.contains(&Misplaced), "{found:?}");

    for space in [spaces.local, spaces.global, spaces.expiry] {
        let entry = store.first_key(space);
        assert_eq!(plant(&database, &store, entry.clone(), None).await, [MissingEntry, WrongCounter]);
        let (_, other) = store.rows(space)[1].clone();
        let found = plant(&database, &store, entry.clone(), Some(other)).await;
        assert!(found.contains(&DifferentEntry) && found.contains(&StaleEntry), "{found:?}");
        let row = store.get(&entry).unwrap();
        let mut elsewhere = entry.clone();
        elsewhere[6] ^= 1;
        assert_eq!(plant(&database, &store, elsewhere, Some(row)).await, [StaleEntry, WrongCounter]);
        assert_eq!(plant(&database, &store, entry, Some(vec![1])).await, [Undecodable, DifferentEntry]);
    }
    database.assert_clean();
}

#[tokio::test]
async fn faults_in_totals_are_found() {
    use FindingKind::*;
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let spaces = Spaces::of(&store);
    for space in [spaces.items, spaces.local, spaces.global, spaces.expiry] {
        let key = counters_key(space);
        let mut counters = Counters::read(store.get(&key).as_deref());
        counters.bytes += 1;
        assert_eq!(plant(&database, &store, key.clone(), Some(counters.to_row())).await, [WrongCounter]);
        assert_eq!(plant(&database, &store, key, None).await, [WrongCounter]);
    }
    let collection = store.first_key(spaces.collections);
    let mut counters = Counters::read(store.get(&collection).as_deref());
    counters.rows -= 1;
    let planted = Some(counters.to_row());
    assert_eq!(plant(&database, &store, collection.clone(), planted.clone()).await, [WrongCollection]);
    assert_eq!(plant(&database, &store, collection.clone(), None).await, [WrongCollection]);
    let nobodys = key_in(spaces.collections, &[7; 16]);
    assert_eq!(plant(&database, &store, nobodys, planted).await, [WrongCollection]);
    assert_eq!(plant(&database, &store, collection, Some(vec![0])).await, [Undecodable, WrongCollection]);
}

#[tokio::test]
async fn faults_in_streams_and_histories_are_found() {
    use FindingKind::*;
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let spaces = Spaces::of(&store);

    let records: Vec<_> = store.rows(spaces.stream).into_iter().filter(|(key, _)| key.len() == 16).collect();
    for (key, row) in [&records[0], &records[10], &records[records.len() - 1]] {
        assert_eq!(plant(&database, &store, key.clone(), None).await, [MissingRecord]);
        assert_eq!(plant(&database, &store, key.clone(), Some(row[..20].to_vec())).await, [Undecodable]);
    }
    let beyond = key_in(spaces.stream, &[&[0; 4][..], &9_999_u64.to_be_bytes()].concat());
    assert_eq!(plant(&database, &store, beyond, Some(records[0].1.clone())).await, [WrongRecord]);
    let of_no_shard = key_in(spaces.stream, &[&[9; 4][..], &1_u64.to_be_bytes()].concat());
    assert_eq!(plant(&database, &store, of_no_shard, Some(records[0].1.clone())).await, [UnknownRow]);
    // A record of an item that belongs to another shard.
    let other = records.iter().find(|(key, _)| key[..8] != records[0].0[..8]).unwrap();
    assert_eq!(plant(&database, &store, records[0].0.clone(), Some(other.1.clone())).await, [WrongRecord]);

    let (past, row) = store.rows(spaces.history)[0].clone();
    assert_eq!(plant(&database, &store, past.clone(), Some(vec![7])).await, [Undecodable]);
    assert_eq!(plant(&database, &store, past.clone(), Some(vec![1, 0, 0])).await, [Undecodable]);
    let mut future = past.clone();
    let at = future.len() - 8;
    future[at..].copy_from_slice(&u64::MAX.to_be_bytes());
    assert_eq!(plant(&database, &store, future, Some(row)).await, [WrongPast]);
    let was = store.rows(spaces.items)[0].1.clone();
    let elsewhere =
        store.rows(spaces.history).into_iter().rev().find(|(key, _)| key[..20] != past[..20]).unwrap();
    let misplaced = Some([&[1][..], &was].concat());
    assert_eq!(plant(&database, &store, elsewhere.0, misplaced).await, [Misplaced]);
}

#[tokio::test]
async fn faults_in_records_are_found() {
    use FindingKind::*;
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let spaces = Spaces::of(&store);

    let token = store.first_key(3);
    assert_eq!(plant(&database, &store, token.clone(), None).await, [WrongToken]);
    assert_eq!(plant(&database, &store, token, Some(vec![1])).await, [Undecodable]);
    assert_eq!(plant(&database, &store, store.first_key(4), None).await, [WrongToken]);

    let backup = store.first_key(6);
    assert_eq!(plant(&database, &store, backup, Some(b"{}".to_vec())).await, [Undecodable]);
    assert_eq!(plant(&database, &store, key_in(6, b"\x63abc"), Some(vec![])).await, [UnknownRow]);
    let history = key_in(0, &[&[4][..], &spaces.history.to_be_bytes()].concat());
    let found = plant(&database, &store, history, None).await;
    assert!(
        found.contains(&WrongCatalog) && found.contains(&Ownerless) && found.contains(&WrongPast),
        "{found:?}"
    );

    let record = key_in(0, b"\x01Orders");
    let found = plant(&database, &store, record.clone(), Some(b"no json".to_vec())).await;
    // The second copy of the record still names the owner of all rows.
    assert_eq!(found, [Undecodable]);
    let copy = key_in(u32::MAX - 1, b"\x01Orders");
    assert_eq!(plant(&database, &store, copy.clone(), None).await, [WrongCatalog]);
    assert_eq!(plant(&database, &store, copy, Some(b"no json".to_vec())).await, [WrongCatalog]);
    let stale = key_in(u32::MAX - 1, b"\x01Gone");
    assert_eq!(plant(&database, &store, stale, Some(b"{}".to_vec())).await, [WrongCatalog]);
    let row = store.get(&record);
    let found = plant(&database, &store, key_in(0, b"\x01Other"), row).await;
    assert!(found.contains(&WrongCatalog), "{found:?}");
    assert_eq!(plant(&database, &store, key_in(0, b"\x09"), Some(vec![])).await, [UnknownRow]);
    let next_space = key_in(0, b"\x02");
    assert_eq!(
        plant(&database, &store, next_space, Some(16_u32.to_be_bytes().to_vec())).await,
        [WrongCatalog, WrongCatalog]
    );
    assert_eq!(plant(&database, &store, key_in(9_999, b"stray"), Some(vec![])).await, [Ownerless]);
    assert_eq!(plant(&database, &store, key_in(9, b"stray"), Some(vec![])).await, [Ownerless]);
    for side in [1, 2, 5] {
        let stray = key_in(side, &9_999_u32.to_be_bytes());
        assert_eq!(plant(&database, &store, stray, Some(vec![0; 8])).await, [Ownerless]);
    }
    database.assert_clean();
}

/// Entries and totals are derived from items, and can therefore be repaired.
#[tokio::test]
async fn entries_and_totals_are_repaired() {
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let spaces = Spaces::of(&store);
    for space in [spaces.local, spaces.global, spaces.expiry] {
        let rows = store.rows(space);
        store.set(&rows[0].0, None).await;
        store.set(&rows[1].0, Some(rows[2].1.clone())).await;
    }
    store.set(&store.first_key(spaces.items), None).await;
    store.set(&counters_key(spaces.global), None).await;
    store.set(&key_in(spaces.collections, &[7; 16]), Some(vec![1; 16])).await;
    assert!(repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap() > 10);
    // An entry that two items shared is rebuilt in the second round, and totals are right after the third.
    for _ in 0..2 {
        repair(&store, database.findings(Pace::EXCLUSIVE)).await.unwrap();
    }
    database.assert_clean();
}

/// Concurrent writers and maintenance cause no findings, even with a new snapshot for every page.
#[tokio::test]
async fn concurrent_writes_cause_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::Relaxed };
    let database = Arc::new(filled(EmbeddedStore::open(folder.path(), options).unwrap()).await);
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = {
        let (database, is_over) = (Arc::clone(&database), Arc::clone(&is_over));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(write_until(&database, &is_over))
        })
    };
    for round in 0..12 {
        let pace = if round % 2 == 0 { Pace::NEW_SNAPSHOT_PER_PAGE } else { Pace::EXCLUSIVE };
        assert_eq!(database.findings(pace), []);
    }
    is_over.store(true, Ordering::Relaxed);
    assert!(writer.join().unwrap() > 100);
    database.maintain().await;
}

async fn write_until(database: &Database<EmbeddedStore>, is_over: &AtomicBool) -> u32 {
    let mut writes = 0;
    while !is_over.load(Ordering::Relaxed) {
        writes += 1;
        let number = writes * 7 % 400;
        if writes % 3 == 0 {
            let key =
                json!({"customer": {"S": format!("c{}", number % 4)}, "number": {"N": number.to_string()}});
            database.succeed("DeleteItem", json!({"TableName": "Orders", "Key": key})).await;
        } else {
            let request = json!({"TableName": "Orders", "Item": order(number % 4, number)});
            database.succeed("PutItem", request).await;
        }
        if writes % 50 == 0 {
            while database.engine.maintain().await.unwrap() == partita_engine::maintenance::Progress::More {}
        }
    }
    writes
}

#[tokio::test]
async fn a_query_rejects_rows_of_another_partition() {
    let store = Shared::default();
    let database = filled(store.clone()).await;
    let rows = store.rows(Spaces::of(&store).items);
    let customer = |row: &[u8]| {
        let item = partita_value::ItemRef::new(row).unwrap();
        partita_value::AttributeValue::from(item.get("customer").unwrap())
    };
    let other = rows.iter().find(|(_, row)| customer(row) != customer(&rows[0].1)).unwrap();
    store.set(&rows[0].0, Some(other.1.clone())).await;
    for number in 0..4 {
        let values = json!({":c": {"S": format!("c{number}")}});
        let query = json!({"TableName": "Orders", "KeyConditionExpression": "customer = :c", "ExpressionAttributeValues": values});
        let answer: Value = serde_json::from_str(&database.run("Query", &query.to_string()).await).unwrap();
        let own = partita_value::AttributeValue::S(format!("c{number}"));
        let is_misplaced = customer(&rows[0].1) == own;
        assert_eq!(answer.get("__type").is_some(), is_misplaced, "{answer}");
    }
}
