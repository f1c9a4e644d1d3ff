//! What the engine's tests share: an engine on a clock set by hand, spoken to in DynamoDB JSON.

use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_engine::maintenance::Progress;
use partita_engine::stream::stream_options::StreamOptions;
use partita_engine::verify::{Event, Finding, Pace};
use partita_store::Store;
use serde_json::Value;
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
    /// Runs a request and returns what is answered, as JSON.
    pub async fn ask(&self, operation: &str, body: Value) -> Value {
        let answer = self.run(operation, &body.to_string()).await;
        serde_json::from_str(&answer).unwrap_or(Value::Null)
    }

    pub fn new(store: S) -> Database<S> {
        let millis = Arc::new(AtomicU64::new(START_MILLIS));
        let engine =
            Engine::open(store, "us-east-1", Clock::Manual(Arc::clone(&millis))).unwrap().with_fixed_tokens();
        Database { engine, millis }
    }

    pub fn with_streams(self, options: StreamOptions) -> Database<S> {
        Database { engine: self.engine.with_streams(options), ..self }
    }

    /// Closes the store and opens it again; the time goes on.
    pub fn reopen(self, open: impl Fn() -> S) -> Database<S> {
        let Database { engine, millis } = self;
        drop(engine);
        // Nothing is opened in the millisecond in which it was closed.
        millis.fetch_add(1, Ordering::Relaxed);
        let engine = Engine::open(open(), "us-east-1", Clock::Manual(Arc::clone(&millis)))
            .unwrap()
            .with_fixed_tokens();
        Database { engine, millis }
    }

    /// Runs a request given as JSON; answers JSON, of an exception too.
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

    pub fn advance_seconds(&self, seconds: u64) {
        self.millis.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }

    /// All background work there is. Whatever state it begins and ends in, the database is as it should be.
    pub async fn maintain(&self) {
        self.assert_clean();
        while self.engine.maintain().await.unwrap() == Progress::More {}
        self.assert_clean();
    }

    pub fn assert_clean(&self) {
        assert_eq!(self.findings(Pace::ALONE), Vec::<Finding>::new());
    }

    /// What is wrong with the database.
    pub fn findings(&self, pace: Pace) -> Vec<Finding> {
        let mut findings = Vec::new();
        let tell = |event: Event| {
            if let Event::Finding(finding) = event {
                findings.push(finding);
            }
            ControlFlow::Continue(())
        };
        let summary = self.engine.verify(pace, tell).unwrap();
        assert!(summary.finished);
        findings
    }
}
