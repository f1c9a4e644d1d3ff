//! What clients do, and what must hold whatever happens meanwhile.

pub mod bank;
pub mod list_append;
pub mod pairs;
pub mod restore;
pub mod stream_reader;

use partita_list_append::random::Random;
use serde_json::{Value, json};

/// A request.
pub struct Ask {
    pub operation: &'static str,
    pub body: String,
}

impl Ask {
    pub fn new(operation: &'static str, body: Value) -> Ask {
        Ask { operation, body: body.to_string() }
    }
}

/// A database that answers at once; after a crash with nothing.
pub trait Database {
    fn ask(&mut self, operation: &str, body: &str) -> Value;
}

pub trait Scenario: Send {
    fn clients(&self) -> usize;

    /// Asked at every start; what is there already is refused.
    fn set_up(&self) -> Vec<Ask>;

    /// What a client asks next; `now` is the clock's time in milliseconds.
    fn next(&mut self, client: usize, random: &mut Random, now: u64) -> Option<Ask>;

    /// A client has its answer, an exception perhaps. The numbers are turns.
    fn answered(&mut self, client: usize, answer: &Value, begun: u64, ended: u64) -> Result<(), String>;

    /// Whatever was answered until now survives a crash.
    fn durable(&mut self) {}

    /// A client will have no answer.
    fn lost(&mut self, client: usize, begun: u64, ended: u64);

    /// After every start, when nothing is under way.
    fn check(&mut self, database: &mut dyn Database) -> Result<(), String>;

    /// At any time.
    fn look(&mut self, _database: &mut dyn Database) -> Result<(), String> {
        Ok(())
    }

    /// At the very end, after a start.
    fn finish(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.check(database)
    }

    /// How many milliseconds the clock may jump at once; below zero if backwards, too.
    fn largest_jump(&self) -> i64;
}

/// The name of an answer's exception.
pub fn exception(answer: &Value) -> Option<&str> {
    answer["__type"].as_str().map(|name| name.rsplit('#').next().unwrap_or(name))
}

/// Whether it is not known what came of a request.
pub fn is_unclear(answer: &Value) -> bool {
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
        let page = database.ask("Scan", &request.to_string());
        let Some(some) = page["Items"].as_array() else { return Err(format!("a scan answers {page}")) };
        items.extend(some.iter().cloned());
        match page.get("LastEvaluatedKey") {
            Some(last) => request["ExclusiveStartKey"] = last.clone(),
            None => return Ok(items),
        }
    }
}

/// Scenarios by their names.
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
