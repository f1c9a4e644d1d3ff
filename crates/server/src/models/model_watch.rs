//! One attached model: writes to its table are judged, requests attributed before they run and measured afterwards.

use super::capacity;
use super::judging_effort::JudgingEffort;
use super::read_attribution::Undeclared;
use super::statistics::{Sample, Statistics, shortened};
use super::violation_log::ViolationLog;
use crate::clock;
use partita_api::{Exception, Request, Response};
use partita_design::Model;
use partita_design::audit::judge::{Change, judge};
use partita_design::audit::observed_read::{RequestShapes, request_shapes};
use partita_design::audit::rules::lost_rules;
use partita_design::audit::{Violation, effort, foreign_expiry};
use partita_design::capacity::index_cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::migration::Transition;
use partita_design::model::ReadRule;
use partita_value::ItemRef;
use partita_value::names::TableName;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Violations are logged and counted.
    Warn,
    /// Violations are refused.
    Enforce,
}

impl Mode {
    /// Parses its name.
    pub fn parse(name: &str) -> Option<Mode> {
        [Mode::Warn, Mode::Enforce].into_iter().find(|mode| mode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::Warn => "warn",
            Mode::Enforce => "enforce",
        }
    }
}

pub struct ModelWatch {
    pub(super) model: Model,
    pub(super) shapes: RequestShapes,
    effort: JudgingEffort,
    mode: Mode,
    /// The model before, while the table is migrated from it: what follows it is right too.
    former: Option<Box<ModelWatch>>,
    /// What happens to reads that no pattern declares; `None` only counts them.
    pub(super) reads: Option<ReadRule>,
    /// When the model was attached.
    since: Instant,
    statistics: Mutex<Statistics>,
    log: ViolationLog,
    /// What each index costs a month, once somebody asks.
    index_costs: OnceLock<BTreeMap<String, f64>>,
    /// The number of parts in all key templates, and in the requests of all patterns.
    parts: usize,
}

/// A running request and the patterns or writes that it is for.
pub struct AttributedRequest {
    pub attributions: Vec<Attribution>,
    pub kind: Kind,
    start: Instant,
}

/// Who sent a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The application: its reads are declared.
    Application,
    /// A tool that audits, infers or dumps; it says so in a header.
    Maintenance,
    /// A migration, which says so too: while a table is in transition, its writes are not judged.
    Migration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// A declared pattern or write, or the description of an undeclared one, and how many keys of the request are for it.
pub struct Attribution {
    pub label: Result<String, Undeclared>,
    pub keys: u64,
}

impl ModelWatch {
    pub fn new(model: Model, mode: Mode) -> ModelWatch {
        let shapes = request_shapes(&model);
        let (reads, since) = (model.table.reads, clock::monotonic_now());
        let (former, statistics, index_costs) = (None, Mutex::default(), OnceLock::new());
        let (effort, parts) = (JudgingEffort::new(&model), effort::all_parts(&model) + shapes.parts());
        let log = ViolationLog::new(model.table.name.clone());
        ModelWatch { model, shapes, effort, mode, former, reads, since, statistics, log, index_costs, parts }
    }

    /// Sets the model before, from which the table is being migrated.
    pub fn with_former(mut self, former: Option<Model>) -> ModelWatch {
        self.former = former.map(|model| Box::new(ModelWatch::new(model, self.mode)));
        self
    }

    /// The model before, from which the table is being migrated.
    pub fn former(&self) -> Option<&Model> {
        self.former.as_ref().map(|former| &former.model)
    }

    /// Sets what happens to reads that no pattern declares, instead of what the model says.
    pub fn with_reads(mut self, reads: Option<ReadRule>) -> ModelWatch {
        self.reads = reads.or(self.reads);
        self
    }

    /// The number of parts in all key templates, and in the requests of all patterns.
    pub fn parts(&self) -> usize {
        let former = self.former.as_ref().map_or(0, |former| former.parts());
        self.parts + former
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn table(&self) -> &str {
        &self.model.table.name
    }

    /// The statistics, with what the model declares beside what was observed.
    pub fn json(&self) -> Value {
        let seconds = self.since.elapsed().as_secs_f64();
        let mut json = self.statistics().json(self.table(), self.mode.name());
        json["reads"] = self.reads.map_or("count", ReadRule::name).into();
        json["seconds"] = seconds.into();
        json["transition"] = self.former().is_some().into();
        let requests: BTreeMap<&str, f64> = self.shapes.requests_per_call().collect();
        let patterns = self.model.patterns.iter().map(|pattern| DeclaredRate {
            name: &pattern.name,
            calls_per_second: pattern.rps,
            requests_per_call: requests.get(pattern.name.as_str()).copied().unwrap_or(1.0),
        });
        let writes = self.model.writes.iter().map(|write| DeclaredRate {
            name: &write.name,
            calls_per_second: write.rps,
            requests_per_call: 1.0,
        });
        json["patternsNeverAsked"] = compare_rates(&mut json["patterns"], "pattern", patterns, seconds);
        json["writesNeverMade"] = compare_rates(&mut json["writes"], "write", writes, seconds);
        json["unusedIndexes"] = self.unused_indexes().into();
        json
    }

    /// The statistics, with the text of the model and, while items move from it, of the former one.
    pub fn json_with_text(&self) -> Value {
        let mut json = self.json();
        json["model"] = self.model.text().into();
        json["former"] = self.former().and_then(Model::text).into();
        json
    }

    /// The indexes that no request has read, and what each costs a month at the declared rates.
    fn unused_indexes(&self) -> Vec<Value> {
        let unused = self.model.indexes.iter().filter(|index| !self.statistics().has_read(&index.name));
        let costs = self.index_costs.get_or_init(|| index_costs(&self.model));
        unused.map(|index| json!({ "index": index.name, "monthlyCost": costs.get(&index.name) })).collect()
    }

    pub(super) fn applies_to(&self, table: &TableName) -> bool {
        table.as_str() == self.model.table.name
    }

    pub(super) fn statistics(&self) -> MutexGuard<'_, Statistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attributes a request before it runs; `None` if it is not about this table, or not the application's.
    pub fn attribute_request(
        &self,
        request: &Request,
        origin: Origin,
    ) -> Result<Option<AttributedRequest>, Exception> {
        let start = clock::monotonic_now();
        self.check_expiry(request)?;
        if origin != Origin::Application {
            return Ok(None);
        }
        let writes = self.attribute_write(request);
        let (kind, attributions) = if writes.is_empty() {
            let reads = self.attribute_read(request);
            let was_declared = self.former.as_ref().is_some_and(|former| former.declares(request));
            if !was_declared {
                self.check_reads(&reads)?;
            }
            (Kind::Read, reads)
        } else {
            (Kind::Write, writes)
        };
        Ok((!attributions.is_empty()).then_some(AttributedRequest { attributions, kind, start }))
    }

    /// Whether patterns declare all that a request reads.
    fn declares(&self, request: &Request) -> bool {
        self.attribute_read(request).iter().all(|attribution| attribution.label.is_ok())
    }

    /// Logs or refuses that items expire by an attribute that the model does not declare for it: nothing judges what expires.
    fn check_expiry(&self, request: &Request) -> Result<(), Exception> {
        let Request::UpdateTimeToLive(update) = request else { return Ok(()) };
        if !update.enabled || !self.applies_to(&update.table) {
            return Ok(());
        }
        let Some(message) = foreign_expiry(&self.model, &update.attribute) else { return Ok(()) };
        if self.former().is_some_and(|former| foreign_expiry(former, &update.attribute).is_none()) {
            return Ok(());
        }
        self.record("value", &message);
        if self.is_enforced() { Err(broken("value", &message)) } else { Ok(()) }
    }

    /// Logs or refuses reads of the application that no pattern declares.
    fn check_reads(&self, read: &[Attribution]) -> Result<(), Exception> {
        let Some(rule) = self.reads else { return Ok(()) };
        for undeclared in read.iter().filter_map(|attribution| attribution.label.as_ref().err()) {
            let message = undeclared.message();
            self.record("read", &message);
            if rule == ReadRule::Enforce {
                return Err(broken("read", &message));
            }
        }
        Ok(())
    }

    /// The violations of one decision, with the numbers of the changes that cause them, in order.
    pub fn judge(&self, changes: &[Change]) -> Vec<(usize, Violation)> {
        match &self.former {
            Some(former) => Transition { old: &former.model, new: &self.model }.judge(changes),
            None => judge(&self.model, changes),
        }
    }

    /// Counts and logs a violation.
    pub fn record(&self, rule: &'static str, message: &str) {
        self.log.record(rule, message);
        self.statistics().violation(rule, message);
    }

    /// What another model for the same table would no longer enforce or report.
    pub fn lowered_by(&self, other: &ModelWatch) -> Vec<String> {
        let mode =
            (self.is_enforced() && !other.is_enforced()).then(|| "mode enforce becomes warn".to_owned());
        let enforces_reads = |watch: &ModelWatch| watch.reads == Some(ReadRule::Enforce);
        let reads = (enforces_reads(self) && !enforces_reads(other))
            .then(|| "undeclared reads are no longer refused".to_owned());
        mode.into_iter().chain(reads).chain(self.lost_rules(other)).collect()
    }

    /// The rules of items that another model does not keep. A table in transition has those that both its models have.
    fn lost_rules(&self, other: &ModelWatch) -> BTreeSet<String> {
        let of_others = |own: &Model| -> BTreeSet<String> {
            let others = std::iter::once(&other.model).chain(other.former());
            others.flat_map(|other| lost_rules(own, other)).collect()
        };
        let lost = of_others(&self.model);
        match self.former() {
            Some(former) => lost.intersection(&of_others(former)).cloned().collect(),
            None => lost,
        }
    }

    /// About how many steps it takes to judge a decision of these writes.
    pub fn steps<'a>(&self, writes: impl Iterator<Item = [Option<ItemRef<'a>>; 3]> + Clone) -> usize {
        let own = self.effort.steps(writes.clone());
        // While items move, each model may judge them twice: as they are stored, and in its own form.
        self.former.as_ref().map_or(own, |former| 2 * (own + former.steps(writes)))
    }

    pub fn is_enforced(&self) -> bool {
        self.mode == Mode::Enforce
    }

    /// Whether it refuses anything: writes that violate it, or undeclared reads.
    pub fn refuses(&self) -> bool {
        self.is_enforced() || self.reads == Some(ReadRule::Enforce)
    }

    /// Measures a request that has run; `None` if it failed, for instance on its condition.
    pub fn measure(&self, request: AttributedRequest, response: Option<&Response>) {
        let microseconds = request.start.elapsed().as_micros() as u64;
        let units = response.map_or(0.0, |response| capacity::consumed(response, self.table()));
        let (returned, unfinished) = match (request.kind, response) {
            (Kind::Read, Some(response)) => self.returned(response),
            _ => (0, false),
        };
        let keys: u64 = request.attributions.iter().map(|attribution| attribution.keys).sum::<u64>().max(1);
        let mut statistics = self.statistics();
        for Attribution { label, keys: own } in request.attributions {
            // What several patterns use together is divided by their number of keys.
            let part = own as f64 / keys as f64;
            let returned = (returned as f64 * part).round() as u64;
            let read = match response {
                Some(Response::Query(output) | Response::Scan(output)) => output.page.scanned_count,
                // A key that no item has reads none.
                _ => returned,
            };
            let failed = response.is_none();
            let sample = Sample { read, returned, unfinished, failed, units: units * part, microseconds };
            let entry = match (label, request.kind) {
                (Ok(name), Kind::Read) => statistics.patterns.entry(name).or_default(),
                (Ok(name), Kind::Write) => statistics.writes.entry(name).or_default(),
                (Err(undeclared), _) => statistics.undeclared(&undeclared.label),
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
            Response::ExecuteStatement(output) => (output.items.len() as u64, output.next_token.is_some()),
            Response::BatchExecuteStatement(output) => {
                let own = output
                    .responses
                    .iter()
                    .filter(|one| one.table.as_ref().is_some_and(|name| self.applies_to(name)));
                (own.filter(|one| one.item.is_some()).count() as u64, false)
            }
            Response::ExecuteTransaction(output) => (output.responses.iter().flatten().count() as u64, false),
            _ => (0, false),
        }
    }
}

/// What each index costs a month at the declared rates; nothing if that takes too long to compute.
fn index_costs(model: &Model) -> BTreeMap<String, f64> {
    let prices = Prices::parse(DEFAULT_PRICES).ok();
    let months = prices.and_then(|prices| index_cost::months(model, &prices)).unwrap_or_default();
    months.into_iter().map(|(name, cost)| (name.to_owned(), cost)).collect()
}

/// How often a pattern or write is declared to be called, and how many requests each call takes.
struct DeclaredRate<'m> {
    name: &'m str,
    calls_per_second: Option<f64>,
    requests_per_call: f64,
}

/// Adds the declared and the observed rate of calls to the statistics of patterns or writes; returns those without any request.
fn compare_rates<'m>(
    entries: &mut Value,
    label: &str,
    declared: impl Iterator<Item = DeclaredRate<'m>>,
    seconds: f64,
) -> Value {
    let mut rates: BTreeMap<&str, DeclaredRate<'_>> = declared.map(|rate| (rate.name, rate)).collect();
    for entry in entries.as_array_mut().into_iter().flatten() {
        let rate = entry[label].as_str().and_then(|name| rates.remove(name));
        let per_call = rate.as_ref().map_or(1.0, |rate| rate.requests_per_call);
        let calls = entry["requests"].as_f64().unwrap_or_default() / per_call;
        entry["requestsPerCall"] = json!(per_call);
        entry["declaredPerSecond"] = json!(rate.and_then(|rate| rate.calls_per_second));
        entry["observedPerSecond"] = json!(calls / seconds.max(1.0));
    }
    let never =
        |rate: DeclaredRate<'_>| json!({ label: rate.name, "declaredPerSecond": rate.calls_per_second });
    rates.into_values().map(never).collect()
}

/// Why a request that breaks a rule is refused.
pub(super) fn broken(rule: &str, message: &str) -> Exception {
    Exception::validation(format!("The model's {rule} rule is broken: {}", shortened(message)))
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
    fn what_tools_send_is_not_counted() {
        let watch = ModelWatch::new(read(&Source::new("model", MODEL)).unwrap(), Mode::Warn);
        let attribute = |origin: Origin| watch.attribute_request(&query("GSI1", "USER#1"), origin).unwrap();
        assert!(attribute(Origin::Application).is_some());
        assert!(attribute(Origin::Maintenance).is_none() && attribute(Origin::Migration).is_none());
    }

    #[test]
    fn rates_are_of_calls_and_failed_requests_count() {
        let text = format!(
            "{MODEL}[entity.Vote]\nattributes = {{ pollId = \"id\", votes = \"int\" }}\n\
             shard = {{ count = 4 }}\nkey = [\"POLL#{{pollId}}#{{shard}}\"]\n\
             identity = \"pollId\"\n[pattern]\n\
             votes = {{ in = [\"pollId\"], out = \"Vote*\", rps = 1 }}\n"
        );
        let watch = ModelWatch::new(read(&Source::new("model", &text)).unwrap(), Mode::Warn);
        for shard in 0..4 {
            let body = serde_json::json!({
                "TableName": "Shop", "KeyConditionExpression": "PK = :k",
                "ExpressionAttributeValues": { ":k": { "S": format!("POLL#1#{shard}") } },
            });
            let request = partita_wire::decode(Operation::Query, body.to_string().as_bytes());
            let Ok(request) = request else { panic!("{body}") };
            let attributed = watch.attribute_request(&request, Origin::Application).unwrap();
            watch.measure(attributed.unwrap(), None);
        }
        let votes = &watch.json()["patterns"][0];
        assert_eq!((&votes["requests"], &votes["failed"]), (&json!(4), &json!(4)), "{votes}");
        // Within the first second.
        assert_eq!((&votes["requestsPerCall"], &votes["observedPerSecond"]), (&json!(4.0), &json!(1.0)));
    }

    #[test]
    fn items_expire_by_the_attribute_of_the_model_only() {
        let expires = |ttl: &str, mode: Mode, attribute: &str, enabled: bool| {
            let text = MODEL.replace("keys = [\"PK\"]\n", &format!("keys = [\"PK\"]\n{ttl}"));
            let watch = ModelWatch::new(read(&Source::new("model", &text)).unwrap(), mode);
            let expiry = serde_json::json!({ "AttributeName": attribute, "Enabled": enabled });
            let body = serde_json::json!({ "TableName": "Shop", "TimeToLiveSpecification": expiry });
            let request = partita_wire::decode(Operation::UpdateTimeToLive, body.to_string().as_bytes());
            let Ok(request) = request else { panic!("{attribute}") };
            watch.attribute_request(&request, Origin::Application).is_ok()
        };
        assert!(!expires("", Mode::Enforce, "removeAt", true));
        assert!(expires("", Mode::Enforce, "removeAt", false) && expires("", Mode::Warn, "removeAt", true));
        assert!(!expires("ttl = \"expiresAt\"\n", Mode::Enforce, "removeAt", true));
        assert!(expires("ttl = \"expiresAt\"\n", Mode::Enforce, "expiresAt", true));
    }

    #[test]
    fn requests_with_invented_indexes_and_keys_use_bounded_memory() {
        let watch = ModelWatch::new(read(&Source::new("model", MODEL)).unwrap(), Mode::Warn);
        for number in 0..1_000 {
            let key = format!("USER#{number}{}", "k".repeat(50_000));
            watch.attribute_request(&query(&format!("invented{number}"), &key), Origin::Application).unwrap();
        }
        let statistics = watch.json();
        assert_eq!(statistics["hotKeys"].as_array().unwrap().len(), 1, "{statistics}");
        assert_eq!(statistics["hotKeys"][0]["place"], "unknown indexes");
        assert_eq!(statistics["hotKeys"][0]["requests"], 1_000);
        assert!(statistics.to_string().len() < 10_000);
    }
}
