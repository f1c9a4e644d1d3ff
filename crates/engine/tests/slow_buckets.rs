//! A bucket that does not respond delays only the imports and bulk operations that use it: no lock is held while a bucket is read.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_api::exchange::ExchangeFailure;
use partita_engine::bucket::{Buckets, Listed, ObjectParts, Objects};
use partita_engine::maintenance::Work;
use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use support::Database;

/// After this time the slow bucket responds nevertheless, so that a failing test ends.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_timeout_while(is_open, LONGEST_WAIT, |is_open| !*is_open).unwrap());
    }
}

/// Every bucket has one object with one item. Those named `slow` respond once the gate is open.
struct GatedBuckets(Arc<Gate>);

struct OneObject {
    gate: Option<Arc<Gate>>,
    unread: Vec<u8>,
}

impl Buckets for GatedBuckets {
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure> {
        let gate = (name == "slow").then(|| Arc::clone(&self.0));
        Ok(Box::new(OneObject { gate, unread: Vec::new() }))
    }
}

impl Objects for OneObject {
    fn write(&self, _: &str, _: &[u8]) -> Result<(), ExchangeFailure> {
        Ok(())
    }

    fn read(&self, _: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure> {
        let unread = br#"{"Item":{"pk":{"S":"a"}}}"#.to_vec();
        Ok(Box::new(OneObject { gate: self.gate.clone(), unread }))
    }

    fn list(&self, _: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        self.gate.iter().for_each(|gate| gate.wait());
        Ok(vec![Listed { key: "object".to_owned(), bytes: 25 }])
    }
}

impl ObjectParts for OneObject {
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure> {
        Ok(Some(std::mem::take(&mut self.unread)).filter(|part| !part.is_empty()))
    }
}

fn database() -> (Database<MemoryStore>, Arc<Gate>) {
    let (database, gate) = (Database::new(MemoryStore::default()), Arc::new(Gate::default()));
    database.engine.set_buckets(Arc::new(GatedBuckets(Arc::clone(&gate))));
    (database, gate)
}

fn table(name: &str) -> Value {
    json!({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    })
}

async fn has_item(database: &Database<MemoryStore>, table: &str) -> bool {
    let key = json!({"pk": {"S": "a"}});
    database.call("GetItem", json!({"TableName": table, "Key": key})).await.get("Item").is_some()
}

/// The oldest operation reads the slow bucket. While its step waits, steps of the same kind finish the other one.
async fn others_continue(database: &Database<MemoryStore>, gate: &Gate, work: Work) {
    let waiting = database.engine.step(work);
    let others = async {
        while !has_item(database, "Fast").await {
            database.engine.step(work).await.unwrap();
        }
        let is_still_waiting = !*gate.is_open.lock().unwrap();
        let slow_has_item = has_item(database, "Slow").await;
        gate.open();
        (is_still_waiting, slow_has_item)
    };
    let started = std::time::Instant::now();
    let (waited, outcome) = tokio::join!(waiting, others);
    waited.unwrap();
    assert_eq!(outcome, (true, false));
    assert!(started.elapsed() < LONGEST_WAIT, "a step waited for the slow bucket of another");
    database.maintain().await;
    assert!(has_item(database, "Slow").await);
}

#[tokio::test]
async fn imports_continue_while_another_waits_for_its_bucket() {
    let (database, gate) = database();
    for name in ["Slow", "Fast"] {
        let import = json!({
            "S3BucketSource": {"S3Bucket": name.to_lowercase()}, "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": table(name),
        });
        database.succeed("ImportTable", import).await;
    }
    others_continue(&database, &gate, Work::Imports).await;
}

#[tokio::test]
async fn bulk_operations_continue_while_another_waits_for_its_bucket() {
    let (database, gate) = database();
    for name in ["Slow", "Fast"] {
        database.succeed("CreateTable", table(name)).await;
        let start = json!({
            "TableName": name,
            "InputS3Configuration": {"S3Bucket": name.to_lowercase(), "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "output", "OutputType": ["ERROR"]},
        });
        database.succeed("StartBulkPutItems", start).await;
    }
    others_continue(&database, &gate, Work::BulkOperations).await;
}
