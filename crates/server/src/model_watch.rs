//! A model attached to the server: writes are held against it, requests are attributed to its patterns.
//!
//! In come typed requests before they run and their responses after; out go refusals (in `enforce`), log lines (in `warn`)
//! and figures, which `GET /_partita/model` shows. A server without a model never comes here.

use partita_api::batch_write_item::BatchWrite;
use partita_api::put_item::PutItem;
use partita_api::query::Query;
use partita_api::transact_write_items::TransactWrite;
use partita_api::update_item::UpdateItem;
use partita_api::{Exception, Request, Response};
use partita_design::Model;
use partita_design::attribution::{Seen, SeenSort, Shape, pattern, shapes};
use partita_design::audit::{self, Attributes, Violation, Written};
use partita_expression::KeyComparison;
use partita_value::names::TableName;
use partita_value::{Item, Value, ValueRef};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Keys and undeclared requests that are kept apart; what comes later is counted together.
const KEPT: usize = 1000;
/// Keys that are shown.
const SHOWN: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What breaks a rule is logged and counted.
    Warn,
    /// What breaks a rule is refused.
    Enforce,
}

pub struct ModelWatch {
    model: Model,
    shapes: Vec<Shape>,
    mode: Mode,
    figures: Mutex<Figures>,
}

#[derive(Default)]
struct Figures {
    patterns: BTreeMap<String, PatternFigures>,
    undeclared: BTreeMap<String, u64>,
    violations: BTreeMap<&'static str, (u64, String)>,
    keys: BTreeMap<String, u64>,
}

#[derive(Clone, Default)]
struct PatternFigures {
    requests: u64,
    read: u64,
    returned: u64,
    unfinished: u64,
    microseconds: u64,
}

/// A read that is under way.
pub struct Sighting {
    label: Result<String, String>,
    start: Instant,
}

impl ModelWatch {
    pub fn new(model: Model, mode: Mode) -> ModelWatch {
        let shapes = shapes(&model);
        ModelWatch { model, shapes, mode, figures: Mutex::default() }
    }

    /// Before a request runs: refuses or reports writes that break the model, recognises reads.
    pub fn before(&self, request: &Request) -> Result<Option<Sighting>, Exception> {
        let violations = self.violations(request);
        if let Some(first) = violations.first() {
            let mut figures = self.figures();
            for violation in &violations {
                tracing::warn!(table = %self.model.table.name, rule = violation.rule, "{}", violation.message);
                let (count, last) = figures.violations.entry(violation.rule).or_default();
                *count += 1;
                last.clone_from(&violation.message);
            }
            if self.mode == Mode::Enforce {
                return Err(Exception::validation(format!(
                    "The model's {} rule is broken: {}",
                    first.rule, first.message
                )));
            }
        }
        Ok(self.sighting(request))
    }

    /// After a read ran.
    pub fn after(&self, sighting: Option<Sighting>, response: &Response) {
        let Some(sighting) = sighting else { return };
        let (read, returned, unfinished) = match response {
            Response::Query(output) | Response::Scan(output) => {
                (output.page.scanned_count, output.page.count, output.page.last_evaluated_key.is_some())
            }
            Response::GetItem(output) => (1, u64::from(output.item.is_some()), false),
            _ => return,
        };
        let mut figures = self.figures();
        match sighting.label {
            Ok(name) => {
                let pattern = figures.patterns.entry(name).or_default();
                pattern.requests += 1;
                pattern.read += read;
                pattern.returned += returned;
                pattern.unfinished += u64::from(unfinished);
                pattern.microseconds += sighting.start.elapsed().as_micros() as u64;
            }
            Err(label) => count(&mut figures.undeclared, label),
        }
    }

    /// All figures as JSON.
    pub fn json(&self) -> String {
        let figures = self.figures();
        let patterns = figures.patterns.iter().map(|(name, figure)| {
            json!({
                "pattern": name, "requests": figure.requests, "itemsRead": figure.read, "itemsReturned": figure.returned,
                "filterWaste": figure.read.saturating_sub(figure.returned), "unfinishedPages": figure.unfinished,
                "meanMicroseconds": figure.microseconds.checked_div(figure.requests).unwrap_or_default(),
            })
        });
        let mut keys: Vec<(&String, &u64)> = figures.keys.iter().collect();
        keys.sort_by(|left, right| right.1.cmp(left.1));
        let keys =
            keys.into_iter().take(SHOWN).map(|(key, requests)| json!({ "key": key, "requests": requests }));
        let violations = figures
            .violations
            .iter()
            .map(|(rule, (times, last))| json!({ "rule": rule, "times": times, "last": last }));
        let undeclared =
            figures.undeclared.iter().map(|(request, times)| json!({ "request": request, "times": times }));
        json!({
            "table": self.model.table.name,
            "mode": if self.mode == Mode::Enforce { "enforce" } else { "warn" },
            "patterns": patterns.collect::<Vec<_>>(),
            "undeclared": undeclared.collect::<Vec<_>>(),
            "violations": violations.collect::<Vec<_>>(),
            "hotKeys": keys.collect::<Vec<_>>(),
        })
        .to_string()
    }

    fn figures(&self) -> std::sync::MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn concerns(&self, table: &TableName) -> bool {
        table.as_str() == self.model.table.name
    }

    fn violations(&self, request: &Request) -> Vec<Violation> {
        match request {
            Request::PutItem(put) => [self.put(put), self.together([self.written_put(put)], false)].concat(),
            Request::UpdateItem(update) => {
                [self.update(update), self.together([self.written_update(update)], false)].concat()
            }
            // How data are loaded in bulk: each item is judged on its own.
            Request::BatchWriteItem(batch) => {
                let tables = batch.tables.iter().filter(|(table, _)| self.concerns(table));
                let puts = tables.flat_map(|(_, writes)| writes).filter_map(|write| match write {
                    BatchWrite::Put(item) => Some(item),
                    BatchWrite::Delete(_) => None,
                });
                puts.flat_map(|item| audit::item(&self.model, &attributes(item))).collect()
            }
            Request::TransactWriteItems(transaction) => {
                let one = |action: &TransactWrite| match action {
                    TransactWrite::Put(put) => self.put(put),
                    TransactWrite::Update(update) => self.update(update),
                    _ => Vec::new(),
                };
                let written = transaction.actions.iter().map(|action| match action {
                    TransactWrite::Put(put) => self.written_put(put),
                    TransactWrite::Update(update) => self.written_update(update),
                    _ => None,
                });
                let together = self.together(written, true);
                transaction.actions.iter().flat_map(one).chain(together).collect()
            }
            _ => Vec::new(),
        }
    }

    fn put(&self, put: &PutItem) -> Vec<Violation> {
        if self.concerns(&put.table) { audit::item(&self.model, &attributes(&put.item)) } else { Vec::new() }
    }

    fn together<'m>(
        &'m self,
        written: impl IntoIterator<Item = Option<Written<'m>>>,
        transaction: bool,
    ) -> Vec<Violation> {
        let written: Vec<Written<'m>> = written.into_iter().flatten().collect();
        audit::together(&self.model, &written, transaction)
    }

    fn written_put(&self, put: &PutItem) -> Option<Written<'_>> {
        let attributes =
            Some(&put.table).filter(|table| self.concerns(table)).map(|_| attributes(&put.item))?;
        Some(Written { entity: audit::recognise(&self.model, &attributes)?, touched: None })
    }

    fn written_update(&self, update: &UpdateItem) -> Option<Written<'_>> {
        let changes = update.update.as_ref().filter(|_| self.concerns(&update.table))?;
        let entity = audit::recognise(&self.model, &attributes(&update.key))?;
        Some(Written { entity, touched: Some(changes.target_roots().map(str::to_owned).collect()) })
    }

    fn update(&self, update: &UpdateItem) -> Vec<Violation> {
        let Some(changes) = update.update.as_ref().filter(|_| self.concerns(&update.table)) else {
            return Vec::new();
        };
        let touched: BTreeSet<&str> = changes.target_roots().collect();
        audit::update(&self.model, &attributes(&update.key), &touched)
    }

    fn sighting(&self, request: &Request) -> Option<Sighting> {
        let start = Instant::now();
        let label = match request {
            Request::Query(query) if self.concerns(&query.table) => self.query(query),
            Request::GetItem(get) if self.concerns(&get.table) => self.get(&get.key),
            Request::Scan(scan) if self.concerns(&scan.table) => {
                Err(format!("Scan {}", scan.index.as_deref().unwrap_or("table")))
            }
            _ => return None,
        };
        Some(Sighting { label, start })
    }

    fn get(&self, key: &Item) -> Result<String, String> {
        let texts = attributes(key);
        let names = &self.model.table.keys;
        let part = |position: usize| names.get(position).and_then(|name| texts.get(name)).map(String::as_str);
        let partition = part(0).unwrap_or_default();
        let sort = part(1).map_or(SeenSort::None, SeenSort::Equals);
        let seen = Seen { query: false, index: None, partition, sort, forward: true, limited: false };
        self.attribute(&seen)
    }

    fn query(&self, query: &Query) -> Result<String, String> {
        let index = query.index.as_deref();
        let names =
            index.and_then(|name| self.model.index(name)).map_or(&self.model.table.keys, |index| &index.keys);
        let term = |position: usize| {
            let name = names.get(position)?;
            query.key_condition.terms.iter().find(|term| term.attribute == *name).map(|term| &term.comparison)
        };
        let partition = match term(0) {
            Some(KeyComparison::Equal(value)) => text(value),
            _ => String::new(),
        };
        let bound = match term(1) {
            Some(
                KeyComparison::Equal(value)
                | KeyComparison::Less(value)
                | KeyComparison::LessOrEqual(value)
                | KeyComparison::Greater(value)
                | KeyComparison::GreaterOrEqual(value)
                | KeyComparison::Between(value, _)
                | KeyComparison::BeginsWith(value),
            ) => text(value),
            Some(KeyComparison::NotIndexable) | None => String::new(),
        };
        let sort = match term(1) {
            Some(KeyComparison::NotIndexable) | None => SeenSort::None,
            Some(KeyComparison::Equal(_)) => SeenSort::Equals(&bound),
            Some(KeyComparison::BeginsWith(_)) => SeenSort::BeginsWith(&bound),
            Some(_) => SeenSort::Range(&bound),
        };
        let (forward, limited) = (query.scan_index_forward, query.limit.is_some());
        self.attribute(&Seen { query: true, index, partition: &partition, sort, forward, limited })
    }

    /// The pattern's name, or what an undeclared request looks like.
    fn attribute(&self, seen: &Seen<'_>) -> Result<String, String> {
        let place = seen.index.unwrap_or("table");
        count(&mut self.figures().keys, format!("{place} {}", seen.partition));
        pattern(&self.shapes, seen).map(str::to_owned).ok_or_else(|| {
            let operation = if seen.query { "Query" } else { "GetItem" };
            let prefix = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
            let sort = match seen.sort {
                SeenSort::None => String::new(),
                SeenSort::Equals(text) => format!(", sort key = {}#…", prefix(text)),
                SeenSort::BeginsWith(text) => format!(", sort key begins_with {}#…", prefix(text)),
                SeenSort::Range(text) => format!(", sort key from {}#…", prefix(text)),
            };
            format!("{operation} {place}, partition key {}#…{sort}", prefix(seen.partition))
        })
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: String) {
    let name = if counts.len() >= KEPT && !counts.contains_key(&name) { "others".to_owned() } else { name };
    *counts.entry(name).or_default() += 1;
}

fn attributes(item: &Item) -> Attributes {
    let entries = item.view().attributes().into_iter();
    entries.map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), text_of(value))).collect()
}

fn text(value: &Value) -> String {
    text_of(value.view())
}

fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::S(bytes) | ValueRef::N(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Bool(flag) => flag.to_string(),
        _ => String::new(),
    }
}
