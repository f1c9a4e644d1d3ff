//! One attached model: requests to its table are checked before they run, and measured afterwards.

use super::capacity;
use super::statistics::{Sample, Statistics, shortened};
use crate::clock;
use partita_api::{Exception, Request, Response};
use partita_design::Model;
use partita_design::attribution::{Shape, shapes};
use partita_design::audit::Violation;
use partita_design::slot::{Place, Slot};
use partita_design::template::Template;
use partita_design::value_type::ValueType;
use partita_value::names::TableName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Violations are logged and counted.
    Warn,
    /// Violations are refused.
    Enforce,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Warn => "warn",
            Mode::Enforce => "enforce",
        }
    }
}

pub struct ModelWatch {
    pub(super) model: Model,
    pub(super) shapes: Vec<Shape>,
    pub(super) partitions: Vec<PartitionTemplate>,
    mode: Mode,
    statistics: Mutex<Statistics>,
}

/// How an entity's partition key is built in the table or in an index.
pub(super) struct PartitionTemplate {
    pub index: Option<String>,
    pub template: Template,
    pub text: String,
    pub types: BTreeMap<String, ValueType>,
}

/// A running request and the patterns or writes that it is for.
pub struct AttributedRequest {
    pub attributions: Vec<Attribution>,
    pub kind: Kind,
    start: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// A declared pattern or write, or the description of an undeclared one, and how many keys of the request are for it.
pub struct Attribution {
    pub label: Result<String, String>,
    pub keys: u64,
}

impl ModelWatch {
    pub fn new(model: Model, mode: Mode) -> ModelWatch {
        let shapes = shapes(&model);
        let slots = Place::all(&model).into_iter().flat_map(|place| place.slots(&model));
        let partition = |slot: Slot<'_>| PartitionTemplate {
            index: slot.place.index.map(|index| index.name.clone()),
            text: slot.partition.to_string(),
            types: slot.entity.types_map(),
            template: slot.partition,
        };
        let partitions = slots.map(partition).collect();
        ModelWatch { model, shapes, partitions, mode, statistics: Mutex::default() }
    }

    /// The number of parts in all its key templates.
    pub fn parts(&self) -> usize {
        let entities = self.model.entities.iter();
        let templates = entities.flat_map(|entity| {
            entity.key.iter().chain(entity.indexes.iter().flat_map(|indexed| &indexed.key))
        });
        templates.map(|template| template.parts.len()).sum()
    }

    pub fn table(&self) -> &str {
        &self.model.table.name
    }

    pub fn json(&self) -> Value {
        self.statistics().json(self.table(), self.mode.name())
    }

    pub(super) fn applies_to(&self, table: &TableName) -> bool {
        table.as_str() == self.model.table.name
    }

    pub(super) fn statistics(&self) -> MutexGuard<'_, Statistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks and attributes a request before it runs; `None` if it is not about this table.
    pub fn check(&self, request: &Request) -> Result<Option<AttributedRequest>, Exception> {
        let start = clock::monotonic_now();
        let write = self.check_write(request);
        self.report(&write.violations)?;
        let (kind, attributions) = if write.attributions.is_empty() {
            (Kind::Read, self.attribute_read(request))
        } else {
            (Kind::Write, write.attributions)
        };
        Ok((!attributions.is_empty()).then_some(AttributedRequest { attributions, kind, start }))
    }

    /// Counts and logs violations; refuses the request in [`Mode::Enforce`].
    fn report(&self, violations: &[Violation]) -> Result<(), Exception> {
        let Some(first) = violations.first() else { return Ok(()) };
        let mut statistics = self.statistics();
        for violation in violations {
            tracing::warn!(table = self.table(), rule = violation.rule, "{}", shortened(&violation.message));
            statistics.violation(violation.rule, &violation.message);
        }
        if self.mode == Mode::Warn {
            return Ok(());
        }
        let message = shortened(&first.message);
        Err(Exception::validation(format!("The model's {} rule is broken: {message}", first.rule)))
    }

    /// Measures a request that has run.
    pub fn measure(&self, request: AttributedRequest, response: &Response) {
        let microseconds = request.start.elapsed().as_micros() as u64;
        let units = capacity::consumed(response, self.table());
        let (returned, unfinished) = self.returned(response);
        let keys: u64 = request.attributions.iter().map(|attribution| attribution.keys).sum::<u64>().max(1);
        let mut statistics = self.statistics();
        for Attribution { label, keys: own } in request.attributions {
            let read = match response {
                Response::Query(output) | Response::Scan(output) => output.page.scanned_count,
                _ if request.kind == Kind::Read => own,
                _ => 0,
            };
            // What several patterns use together is divided by their number of keys.
            let part = own as f64 / keys as f64;
            let sample = Sample {
                read,
                returned: (returned as f64 * part).round() as u64,
                unfinished,
                units: units * part,
                microseconds,
            };
            let entry = match (label, request.kind) {
                (Ok(name), Kind::Read) => statistics.patterns.entry(name).or_default(),
                (Ok(name), Kind::Write) => statistics.writes.entry(name).or_default(),
                (Err(label), _) => statistics.undeclared(&label),
            };
            entry.add(&sample);
        }
    }

    /// The number of this table's items in a response, and whether there are more.
    fn returned(&self, response: &Response) -> (u64, bool) {
        match response {
            Response::Query(output) | Response::Scan(output) => {
                (output.page.count, output.page.last_evaluated_key.is_some())
            }
            Response::GetItem(output) => (u64::from(output.item.is_some()), false),
            Response::BatchGetItem(output) => {
                let own = output.responses.iter().filter(|found| self.applies_to(&found.table));
                let rest = output.unprocessed.iter().any(|keys| self.applies_to(&keys.table));
                (own.map(|found| found.items.len() as u64).sum(), rest)
            }
            Response::TransactGetItems(output) => (output.responses.iter().flatten().count() as u64, false),
            _ => (0, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_api::Operation;
    use partita_design::{Source, read};

    const MODEL: &str = "format = 1\n[table]\nname = \"Shop\"\nkeys = [\"PK\"]\n[entity.User]\n\
                         attributes = { userId = \"id\" }\nkey = [\"USER#{userId}\"]\n";

    fn query(index: &str, key: &str) -> Request {
        let body = serde_json::json!({
            "TableName": "Shop", "IndexName": index, "KeyConditionExpression": "PK = :k",
            "ExpressionAttributeValues": { ":k": { "S": key } },
        });
        partita_wire::decode(Operation::Query, body.to_string().as_bytes())
            .unwrap_or_else(|_| panic!("{index}"))
    }

    #[test]
    fn requests_with_invented_indexes_and_keys_use_bounded_memory() {
        let watch = ModelWatch::new(read(&Source::new("model", MODEL)).unwrap(), Mode::Warn);
        for number in 0..1_000 {
            let key = format!("USER#{number}{}", "k".repeat(50_000));
            watch.check(&query(&format!("invented{number}"), &key)).unwrap();
        }
        let statistics = watch.json();
        assert_eq!(statistics["hotKeys"].as_array().unwrap().len(), 1, "{statistics}");
        assert_eq!(statistics["hotKeys"][0]["place"], "unknown indexes");
        assert_eq!(statistics["hotKeys"][0]["requests"], 1_000);
        assert!(statistics.to_string().len() < 10_000);
    }
}
