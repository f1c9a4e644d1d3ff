//! One attached model: what a request does to its table, judged before and measured after.

use super::capacity;
use super::figures::{Deed, Figures, message_of};
use partita_api::{Exception, Request, Response};
use partita_design::Model;
use partita_design::audit::Violation;
use partita_design::audit::attribution::{RequestShape, request_shapes};
use partita_design::keys::key_mapping::{KeyMapping, TableOrIndex};
use partita_design::model::value_type::ValueType;
use partita_design::template::Template;
use partita_value::names::TableName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What breaks a rule is logged and counted.
    Warn,
    /// What breaks a rule is refused.
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
    pub(super) shapes: Vec<RequestShape>,
    pub(super) partitions: Vec<Partition>,
    mode: Mode,
    figures: Mutex<Figures>,
}

/// How an entity's partition key is made at one place.
pub(super) struct Partition {
    pub index: Option<String>,
    pub template: Template,
    pub shown: String,
    pub types: BTreeMap<String, ValueType>,
}

/// What a request is about, while it runs.
pub struct Sighting {
    pub asked: Vec<Asked>,
    pub kind: Kind,
    start: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// A pattern or write that is declared, or what the request looks like; and how many keys of the request are for it.
pub struct Asked {
    pub label: Result<String, String>,
    pub keys: u64,
}

impl ModelWatch {
    pub fn new(model: Model, mode: Mode) -> ModelWatch {
        let shapes = request_shapes(&model);
        let slots = TableOrIndex::all(&model).into_iter().flat_map(|place| place.mappings(&model));
        let partition = |slot: KeyMapping<'_>| Partition {
            index: slot.location.index.map(|index| index.name.clone()),
            shown: slot.partition.to_string(),
            types: slot.entity.types_map(),
            template: slot.partition,
        };
        let partitions = slots.map(partition).collect();
        ModelWatch { model, shapes, partitions, mode, figures: Mutex::default() }
    }

    /// The parts of all its key templates.
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
        self.figures().json(self.table(), self.mode.name())
    }

    pub(super) fn concerns(&self, table: &TableName) -> bool {
        table.as_str() == self.model.table.name
    }

    pub(super) fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn before(&self, request: &Request) -> Result<Option<Sighting>, Exception> {
        let start = Instant::now();
        let judged = self.judge(request);
        self.report(&judged.violations)?;
        let (kind, asked) = if judged.asked.is_empty() {
            (Kind::Read, self.reads(request))
        } else {
            (Kind::Write, judged.asked)
        };
        Ok((!asked.is_empty()).then_some(Sighting { asked, kind, start }))
    }

    /// Counts and logs; refuses the request in `enforce`.
    fn report(&self, violations: &[Violation]) -> Result<(), Exception> {
        let Some(first) = violations.first() else { return Ok(()) };
        let mut figures = self.figures();
        for violation in violations {
            tracing::warn!(table = self.table(), rule = violation.rule, "{}", message_of(&violation.message));
            figures.violation(violation.rule, &violation.message);
        }
        if self.mode == Mode::Warn {
            return Ok(());
        }
        let message = message_of(&first.message);
        Err(Exception::validation(format!("The model's {} rule is broken: {message}", first.rule)))
    }

    pub fn after(&self, sighting: Sighting, response: &Response) {
        let microseconds = sighting.start.elapsed().as_micros() as u64;
        let units = capacity::used(response, self.table());
        let (returned, unfinished) = self.returned(response);
        let keys: u64 = sighting.asked.iter().map(|asked| asked.keys).sum::<u64>().max(1);
        let mut figures = self.figures();
        for Asked { label, keys: own } in sighting.asked {
            let read = match response {
                Response::Query(output) | Response::Scan(output) => output.page.scanned_count,
                _ if sighting.kind == Kind::Read => own,
                _ => 0,
            };
            // What several patterns ask together is shared out by their keys.
            let part = own as f64 / keys as f64;
            let deed = Deed {
                read,
                returned: (returned as f64 * part).round() as u64,
                unfinished,
                units: units * part,
                microseconds,
            };
            let deeds = match (label, sighting.kind) {
                (Ok(name), Kind::Read) => figures.patterns.entry(name).or_default(),
                (Ok(name), Kind::Write) => figures.writes.entry(name).or_default(),
                (Err(label), _) => figures.undeclared(&label),
            };
            deeds.add(&deed);
        }
    }

    /// Items of this table in an answer, and whether there are more.
    fn returned(&self, response: &Response) -> (u64, bool) {
        match response {
            Response::Query(output) | Response::Scan(output) => {
                (output.page.count, output.page.last_evaluated_key.is_some())
            }
            Response::GetItem(output) => (u64::from(output.item.is_some()), false),
            Response::BatchGetItem(output) => {
                let own = output.responses.iter().filter(|found| self.concerns(&found.table));
                let rest = output.unprocessed.iter().any(|keys| self.concerns(&keys.table));
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
    fn requests_with_invented_indexes_and_keys_take_no_memory() {
        let watch = ModelWatch::new(read(&Source::new("model", MODEL)).unwrap(), Mode::Warn);
        for number in 0..1_000 {
            let key = format!("USER#{number}{}", "k".repeat(50_000));
            watch.before(&query(&format!("invented{number}"), &key)).unwrap();
        }
        let figures = watch.json();
        assert_eq!(figures["hotKeys"].as_array().unwrap().len(), 1, "{figures}");
        assert_eq!(figures["hotKeys"][0]["place"], "unknown indexes");
        assert_eq!(figures["hotKeys"][0]["requests"], 1_000);
        assert!(figures.to_string().len() < 10_000);
    }
}
