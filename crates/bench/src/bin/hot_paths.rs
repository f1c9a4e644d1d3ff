//! The hot paths without HTTP or disk: request JSON → engine → response JSON, in one process and one thread.
//!
//! `hot_paths PATH ROUNDS [FOLDER]` runs one path that many times, in memory or on the embedded store in a folder. Under
//! `valgrind --tool=callgrind` it gives instruction counts, which are free of noise (`cargo xtask instructions`). On its
//! own it prints the time per round and the engine's share of it, which is what a program that embeds the engine would
//! see. `hot_paths lmdb ROUNDS FOLDER` writes rows to LMDB directly, for comparison.

use heed::types::Bytes;
use heed::{CommitOrAbort, Database};
use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_store::{Store, blocking};
use partita_store_embedded::{EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const TABLE: &str = r#"{"TableName":"Bench","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},
        {"AttributeName":"GSI1PK","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
    "GlobalSecondaryIndexes":[{"IndexName":"GSI1","Projection":{"ProjectionType":"ALL"},
        "KeySchema":[{"AttributeName":"GSI1PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}]}"#;

/// Name, operation and body of each path; `{n}` is the number of the round.
const PATHS: &[(&str, Operation, &str)] = &[
    (
        "get",
        Operation::GetItem,
        r#"{"TableName":"Bench","Key":{"PK":{"S":"USER#1"},"SK":{"S":"ORDER#00003"}},"ConsistentRead":true}"#,
    ),
    (
        "query",
        Operation::Query,
        r#"{"TableName":"Bench","KeyConditionExpression":"PK = :p AND begins_with(SK, :s)","ScanIndexForward":false,"Limit":10,"ExpressionAttributeValues":{":p":{"S":"USER#1"},":s":{"S":"ORDER#"}}}"#,
    ),
    (
        "query_filter",
        Operation::Query,
        r##"{"TableName":"Bench","KeyConditionExpression":"PK = :p","FilterExpression":"#s = :st AND contains(tags, :t)","ExpressionAttributeNames":{"#s":"status"},"ExpressionAttributeValues":{":p":{"S":"USER#1"},":st":{"S":"pending"},":t":{"S":"web"}}}"##,
    ),
    ("scan", Operation::Scan, r#"{"TableName":"Bench","Limit":100}"#),
    ("put", Operation::PutItem, r#"{"TableName":"Bench","Item":{item}}"#),
    (
        "update",
        Operation::UpdateItem,
        r##"{"TableName":"Bench","Key":{"PK":{"S":"USER#1"},"SK":{"S":"ORDER#00003"}},"UpdateExpression":"SET #v = #v + :one, #s = :s","ConditionExpression":"attribute_exists(PK)","ExpressionAttributeNames":{"#v":"version","#s":"note2"},"ExpressionAttributeValues":{":one":{"N":"1"},":s":{"S":"touched"}}}"##,
    ),
];

fn item(user: u64, order: u64) -> String {
    let lines = r#"{"M":{"sku":{"S":"SKU-00001"},"qty":{"N":"2"},"gift":{"BOOL":false}}}"#;
    format!(
        r#"{{"PK":{{"S":"USER#{user}"}},"SK":{{"S":"ORDER#{order:05}"}},"GSI1PK":{{"S":"STATUS#{}"}},"entityType":{{"S":"ORDER"}},"orderId":{{"S":"{order:09}"}},"total":{{"N":"{order}.99"}},"status":{{"S":"shipped"}},"lines":{{"L":[{lines},{lines},{lines},{lines}]}},"tags":{{"SS":["express","fragile","web"]}},"note":{{"S":"{}"}},"version":{{"N":"1"}}}}"#,
        order % 7,
        "x".repeat(600)
    )
}

/// An engine and the runtime that drives it.
struct TestDatabase<S> {
    engine: Engine<S>,
    runtime: tokio::runtime::Runtime,
}

impl<S: Store> TestDatabase<S> {
    /// Returns the length of the response and the time spent in the engine.
    fn run(&self, operation: Operation, body: &str) -> Result<(usize, Duration), Box<dyn Error>> {
        let request = partita_wire::decode(operation, body.as_bytes())
            .map_err(|_| format!("cannot be decoded: {body}"))?;
        let start = Instant::now();
        let response =
            self.runtime.block_on(self.engine.execute(request)).map_err(|exception| exception.message)?;
        let in_engine = start.elapsed();
        Ok((partita_wire::encode(&response).len(), in_engine))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (path, rounds) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    if path == "lmdb" {
        return commit_directly(Path::new(&arguments.next().unwrap_or_default()), rounds.parse()?);
    }
    let known = PATHS.iter().find(|(name, ..)| *name == path).ok_or("hot_paths PATH ROUNDS [FOLDER]")?;
    match arguments.next() {
        Some(folder) => {
            measure(EmbeddedStore::open(Path::new(&folder), Options::default())?, known, rounds.parse()?)
        }
        None => measure(MemoryStore::new(), known, rounds.parse()?),
    }
}

/// The baseline for durable puts: LMDB alone, with a transaction and a sync per row of about the same size.
#[allow(unsafe_code)]
fn commit_directly(folder: &Path, rounds: u64) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    // SAFETY: nothing else opens this folder.
    let env = unsafe { heed::EnvOpenOptions::new().map_size(1 << 30).open(folder)? };
    let opened = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
        let rows: Database<'_, Bytes, Bytes> = opener.create_database(txn, None)?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(rows))
    })?;
    let CommitOrAbort::Commit(rows) = opened else { return Err("no database was created".into()) };
    let start = Instant::now();
    for round in 0..rounds {
        let mut txn = env.write_txn()?;
        rows.put(&mut txn, &round.to_be_bytes(), item(1_000, round).as_bytes())?;
        txn.commit()?;
    }
    println!("lmdb: {:.2} µs per round", start.elapsed().as_secs_f64() * 1e6 / rounds.max(1) as f64);
    Ok(())
}

fn measure<S: Store>(
    store: S,
    (path, operation, body): &(&str, Operation, &str),
    rounds: u64,
) -> Result<(), Box<dyn Error>> {
    let database = TestDatabase {
        engine: Engine::open(store, "us-east-1", Clock::System)?,
        runtime: tokio::runtime::Builder::new_current_thread().build()?,
    };
    // A single-threaded program that embeds the engine may wait for its own commits.
    blocking::set_allowed(true);
    database.run(Operation::CreateTable, TABLE)?;
    for order in 0..200 {
        let item = item(order / 20, order % 20);
        database.run(Operation::PutItem, &format!(r#"{{"TableName":"Bench","Item":{item}}}"#))?;
    }
    let bodies: Vec<String> = (0..rounds.max(1)).map(|n| body.replace("{item}", &item(1_000, n))).collect();
    let start = Instant::now();
    let (mut bytes, mut in_engine) = (0, Duration::ZERO);
    for body in bodies.iter().take(rounds as usize) {
        let (response, engine) = database.run(*operation, body)?;
        bytes += response as u64;
        in_engine += engine;
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / rounds.max(1) as f64;
    println!(
        "{path}: {:.2} µs per round, {:.2} µs of it in the engine; {} bytes per response",
        each(start.elapsed()),
        each(in_engine),
        bytes / rounds.max(1)
    );
    Ok(())
}
