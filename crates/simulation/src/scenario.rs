//! What clients do, and what must hold whatever happens meanwhile.

pub mod bank;
pub mod list_append;
pub mod pairs;
pub mod restore;
pub mod stream_reader;

use partita_list_append::random::Random;
use serde_json::{Value, json};

/// A request.
pub struct Request {
    pub operation: &'static str,
    pub body: String,
}

impl Request {
    pub fn new(operation: &'static str, body: Value) -> Request {
        Request { operation, body: body.to_string() }
    }
}

/// A database that answers immediately; with null after a crash.
pub trait Database {
    fn call(&mut self, operation: &str, body: &str) -> Value;
}

pub trait Scenario: Send {
    fn clients(&self) -> usize;

    /// Sent at every start; what exists already is rejected.
    fn set_up(&self) -> Vec<Request>;

    /// The next request of a client; `now` is the clock's time in milliseconds.
    fn next(&mut self, client: usize, random: &mut Random, now: u64) -> Option<Request>;

    /// A client has received a response, possibly an exception. The numbers are turns.
    fn on_response(&mut self, client: usize, answer: &Value, started: u64, ended: u64) -> Result<(), String>;

    /// Everything acknowledged so far survives a crash.
    fn on_durable(&mut self) {}

    /// A client will not receive a response.
    fn on_lost(&mut self, client: usize, started: u64, ended: u64);

    /// Called after every start, when nothing is in flight.
    fn check(&mut self, database: &mut dyn Database) -> Result<(), String>;

    /// Called at any time.
    fn observe(&mut self, _database: &mut dyn Database) -> Result<(), String> {
        Ok(())
    }

    /// Called at the very end, after a start.
    fn finish(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.check(database)
    }

    /// How many milliseconds the clock may jump in one turn; negative if it may also jump backwards.
    fn max_clock_jump(&self) -> i64;
}

/// The name of a response's exception.
pub fn exception(answer: &Value) -> Option<&str> {
    answer["__type"].as_str().map(|name| name.rsplit('#').next().unwrap_or(name))
}

/// Whether the outcome of a request is unknown.
pub fn is_outcome_unknown(answer: &Value) -> bool {
    answer.is_null()
        || matches!(exception(answer), Some("InternalServerError" | "InternalServerErrorException"))
}

/// All items of a table or index.
pub fn items(database: &mut dyn Database, table: &str, index: Option<&str>) -> Result<Vec<Value>, String> {
    let mut request = json!({"TableName": table, "ConsistentRead": index.is_none()});
    if let Some(index) = index {
        request["IndexName"] = json!(index);
    }
    let mut items = Vec::new();
    loop {
        let page = database.call("Scan", &request.to_string());
        let Some(some) = page["Items"].as_array() else { return Err(format!("a scan returns {page}")) };
        items.extend(some.iter().cloned());
        match page.get("LastEvaluatedKey") {
            Some(last) => request["ExclusiveStartKey"] = last.clone(),
            None => return Ok(items),
        }
    }
}

/// The names of the scenarios.
pub const NAMES: [&str; 5] = ["bank", "list-append", "pairs", "stream-reader", "restore"];

pub fn named(name: &str) -> Option<Box<dyn Scenario>> {
    Some(match name {
        "bank" => Box::new(bank::Bank::default()),
        "list-append" => Box::new(list_append::ListAppend::default()),
        "pairs" => Box::new(pairs::Pairs::default()),
        "stream-reader" => Box::new(stream_reader::StreamReader::default()),
        "restore" => Box::new(restore::Restore::default()),
        _ => return None,
    })
}
