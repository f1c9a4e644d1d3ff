//! Shared by the engine's tests: an engine with a manual clock that is called with DynamoDB JSON.

pub mod row_decoder;

use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_engine::maintenance::Progress;
use partita_engine::stream::stream_options::StreamOptions;
use partita_engine::verify::{Event, Finding, Pace};
use partita_store::Store;
use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// 2026-11-15T00:00:00Z.
pub const START_MILLIS: u64 = 1_794_700_800_000;

pub struct Database<S> {
    pub engine: Engine<S>,
    pub millis: Arc<AtomicU64>,
}

#[allow(dead_code, reason = "each test file uses a part")]
impl<S: Store> Database<S> {
    pub fn new(store: S) -> Database<S> {
        let millis = Arc::new(AtomicU64::new(START_MILLIS));
        let engine =
            Engine::open(store, "us-east-1", Clock::Manual(Arc::clone(&millis))).unwrap().with_fixed_tokens();
        Database { engine, millis }
    }

    pub fn with_streams(self, options: StreamOptions) -> Database<S> {
        Database { engine: self.engine.with_streams(options), ..self }
    }

    /// Closes the store and opens it again.
    pub fn reopen(self, open: impl Fn() -> S) -> Database<S> {
        let Database { engine, millis } = self;
        drop(engine);
        // No database is reopened within the millisecond it was closed in.
        millis.fetch_add(1, Ordering::Relaxed);
        let engine = Engine::open(open(), "us-east-1", Clock::Manual(Arc::clone(&millis)))
            .unwrap()
            .with_fixed_tokens();
        Database { engine, millis }
    }

    /// Runs a request given as JSON, and returns the response or exception as JSON.
    pub async fn run(&self, operation: &str, body: &str) -> String {
        let operation = Operation::from_name(operation).unwrap();
        let outcome = match partita_wire::decode(operation, body.as_bytes()) {
            Ok(request) => self.engine.execute(request).await,
            Err(partita_wire::Rejection::Malformed(e) | partita_wire::Rejection::Invalid(e)) => Err(e),
        };
        let json = match outcome {
            Ok(response) => partita_wire::encode(&response),
            Err(exception) => partita_wire::encode_exception(&exception),
        };
        String::from_utf8(json).unwrap()
    }

    /// Like [`Database::run`], with parsed JSON. An empty response is `null`.
    pub async fn call(&self, operation: &str, body: Value) -> Value {
        let response = self.run(operation, &body.to_string()).await;
        serde_json::from_str(&response).unwrap_or(Value::Null)
    }

    /// Runs a request that must succeed.
    pub async fn succeed(&self, operation: &str, body: Value) -> Value {
        let response = self.call(operation, body).await;
        assert!(response.get("__type").is_none(), "{operation}: {response}");
        response
    }

    pub fn advance_seconds(&self, seconds: u64) {
        self.millis.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }

    /// Runs all background work. The database must be consistent before and after.
    pub async fn maintain(&self) {
        self.assert_clean();
        while self.engine.maintain().await.unwrap() == Progress::More {}
        self.assert_clean();
    }

    pub fn assert_clean(&self) {
        assert_eq!(self.findings(Pace::EXCLUSIVE), Vec::<Finding>::new());
    }

    /// Verifies the database, and returns the findings.
    pub fn findings(&self, pace: Pace) -> Vec<Finding> {
        let mut findings = Vec::new();
        let on_event = |event: Event| {
            if let Event::Finding(finding) = event {
                findings.push(finding);
            }
            ControlFlow::Continue(())
        };
        let summary = self.engine.verify(pace, on_event).unwrap();
        assert!(summary.finished);
        findings
    }
}

/// A database with a table of `items` items, each with a text of `text_bytes` bytes and an entry in the index `byKind`.
#[allow(dead_code, reason = "each test file uses a part")]
pub async fn with_large_items(table: &str, items: usize, text_bytes: usize) -> Database<MemoryStore> {
    let database = Database::new(MemoryStore::default());
    let element = |name: &str| json!({"AttributeName": name, "KeyType": "HASH"});
    let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let index = json!({"IndexName": "byKind", "KeySchema": [element("kind")], "Projection": {"ProjectionType": "ALL"}});
    let request = json!({
        "TableName": table, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [element("pk")],
        "AttributeDefinitions": [definition("pk"), definition("kind")], "GlobalSecondaryIndexes": [index],
    });
    database.succeed("CreateTable", request).await;
    for number in 0..items {
        let item = json!({
            "pk": {"S": number.to_string()}, "kind": {"S": "large"}, "text": {"S": "a".repeat(text_bytes)},
            "document": {"M": {"count": {"N": "0"}}}, "count": {"N": "0"},
        });
        database.succeed("PutItem", json!({"TableName": table, "Item": item})).await;
    }
    database
}
