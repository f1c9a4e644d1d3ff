//! A plan is a promise: every planned request of many models, most of them random, is sent to the real engine over generated items, and what comes
//! back is compared with what the pattern means: the items, their number and their order; and what the requests took with what the plan foretells.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "proofs/declared.rs"]
mod declared;
#[path = "proofs/figures.rs"]
mod figures;
#[path = "proofs/hostile.rs"]
mod hostile;
#[path = "proofs/random_model.rs"]
mod random_model;
#[path = "proofs/reads.rs"]
mod reads;

use partita_api::Operation;
use partita_design::exchange::item_json;
use partita_design::exchange::table_definition::create_table;
use partita_design::generate::Generator;
use partita_design::item::Item;
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::Pattern;
use partita_design::plan::trial::{Answer, Call, Page, PreparedPlan, calls, difference, expected, known};
use partita_design::plan::{Plan, plan};
use partita_design::{Model, Severity, Source, check, read};
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::runtime::Runtime;

/// How often each pattern is called.
const CALLS: usize = 8;

struct Database {
    runtime: Runtime,
    engine: Engine<MemoryStore>,
}

impl Database {
    fn new(model: &Model) -> Database {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = Clock::Manual(Arc::new(AtomicU64::new(1_794_700_800_000)));
        let engine = Engine::open(MemoryStore::default(), "us-east-1", clock).unwrap();
        let database = Database { runtime, engine };
        database.call("CreateTable", &create_table(model));
        database
    }

    fn call(&self, operation: &str, body: &Value) -> Value {
        let name = Operation::from_name(operation).unwrap();
        let request = partita_wire::decode(name, body.to_string().as_bytes());
        let request = request.unwrap_or_else(|_| panic!("{operation} is refused: {body}"));
        let response = self.runtime.block_on(self.engine.execute(request));
        let response = response.unwrap_or_else(|error| panic!("{operation}: {}: {body}", error.message));
        serde_json::from_slice(&partita_wire::encode(&response)).unwrap_or(Value::Null)
    }

    fn put(&self, table: &str, item: &Item) {
        self.call("PutItem", &json!({ "TableName": table, "Item": item_json::encode(item) }));
    }

    /// Sends one request of a plan.
    fn page(&self, operation: &str, body: &Value) -> Page {
        let mut body = body.clone();
        body["ReturnConsumedCapacity"] = json!("TOTAL");
        let response = self.call(operation, &body);
        Page::decode(operation, &response).unwrap()
    }
}

/// A model, its items, and a database that holds them.
struct Trial<'m> {
    model: &'m Model,
    items: Vec<Item>,
    database: Database,
}

impl<'m> Trial<'m> {
    fn new(model: &'m Model, count: u64) -> Trial<'m> {
        let key = |item: &Item| -> Vec<Option<String>> {
            model.table.keys.iter().map(|name| item.get(name)?.to_text()).collect()
        };
        // Items with equal keys replace each other.
        let items: BTreeMap<_, _> =
            Generator::new(model, 11, count).items().map(|item| (key(&item), item)).collect();
        Trial::with(model, items.into_values().collect())
    }

    fn with(model: &'m Model, items: Vec<Item>) -> Trial<'m> {
        let database = Database::new(model);
        items.iter().for_each(|item| database.put(&model.table.name, item));
        Trial { model, items, database }
    }

    /// Compares what some calls of a pattern return with what it means; returns how many items were expected.
    fn check(&self, pattern: &Pattern, plan: &Plan<'m>, context: &str) -> usize {
        let mut compared = 0;
        for call in calls(pattern, &known(self.model, &self.items), CALLS) {
            let answer = self.answer(pattern, plan, &call);
            let steps: Vec<String> = plan
                .steps
                .iter()
                .map(|step| {
                    let (location, clauses) = (step.location.name(), step.clauses());
                    format!(
                        "{} {location} {clauses:?} {:?} {:?}",
                        step.operation.name(),
                        step.filter,
                        step.afterwards
                    )
                })
                .collect();
            let context = format!("{context}\n{} {call:?}\n{}", pattern.name, steps.join("\n"));
            compared += self.compare(pattern, &call, &answer, &context);
        }
        compared
    }

    fn answer(&self, pattern: &Pattern, plan: &Plan<'m>, call: &Call) -> Answer {
        let send = |operation: &'static str, body: &Value| -> Result<Page, ()> {
            Ok(self.database.page(operation, body))
        };
        PreparedPlan::new(self.model, pattern, plan, &known(self.model, &self.items))
            .execute(call, send)
            .unwrap()
    }

    fn key(&self, item: &Item) -> Vec<String> {
        self.model.table.keys.iter().filter_map(|name| item.get(name)?.to_text()).collect()
    }

    fn compare(&self, pattern: &Pattern, call: &Call, answer: &Answer, context: &str) -> usize {
        let wanted = expected(self.model, pattern, call, &known(self.model, &self.items));
        let difference = difference((self.model, pattern), &wanted, &answer.items, &self.items);
        assert_eq!(difference, None, "{context}");
        let keys: BTreeSet<Vec<String>> = answer.items.iter().map(|item| self.key(item)).collect();
        assert!(keys.len() == answer.items.len() || !pattern.via.is_empty(), "items come twice: {context}");
        wanted.count
    }
}

/// The patterns of a model that its check promises to serve, with their plans.
fn promised(model: &Model) -> Vec<(&Pattern, Plan<'_>)> {
    let report = check(model);
    // P117: one item is asked for, but there may be several. P105: the order is not exactly that of the values.
    let unproven = |code: &str, severity| severity == Severity::Error || ["P105", "P117"].contains(&code);
    let errors = report.findings.iter().filter(|finding| unproven(finding.code, finding.severity));
    let errors: BTreeSet<&str> = errors.map(|finding| finding.subject.as_str()).collect();
    let keys = Keyspace::new(model);
    // Requests that code sends as they are declared are not planned; what has errors promises nothing.
    let sound =
        |pattern: &&Pattern| pattern.request.is_none() && !errors.contains(pattern.subject().as_str());
    let patterns = model.patterns.iter().filter(sound);
    patterns.filter_map(|pattern| Some((pattern, plan(&keys, pattern).ok()?))).collect()
}

/// Checks every served pattern of a model; returns the number of patterns and of items.
fn check_model(text: &str, name: &str, count: u64) -> (usize, usize) {
    let Ok(model) = read(&Source::new(name, text)) else { return (0, 0) };
    let trial = Trial::new(&model, count);
    let promised = promised(&model);
    let context = format!("{name}\n{text}");
    let compared = promised.iter().map(|(pattern, plan)| trial.check(pattern, plan, &context)).sum();
    (promised.len(), compared)
}

#[test]
fn plans_of_written_models_return_what_their_patterns_mean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut patterns, mut items) = (0, 0);
    for folder in ["models", "crates/design/tests/good", "crates/design/tests/planted"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let (served, compared) = check_model(&text, &path.display().to_string(), 250);
                patterns += served;
                items += compared;
            }
        }
    }
    assert!(patterns > 250 && items > 2_000, "{patterns} patterns, {items} items");
}

#[test]
fn plans_of_random_models_return_what_their_patterns_mean() {
    let models: u64 = std::env::var("PARTITA_RANDOM_MODELS").map_or(60, |number| number.parse().unwrap());
    let (mut patterns, mut items) = (0, 0);
    let unclear = (0..models.div_ceil(2)).map(random_model::unclear);
    for (seed, text) in (0..models).map(random_model::text).chain(unclear).enumerate() {
        let (served, compared) = check_model(&text, &format!("seed {seed}"), 160);
        patterns += served;
        items += compared;
    }
    assert!(patterns as u64 > models && items as u64 > 5 * models, "{patterns} patterns, {items} items");
}

/// A proof holds for every value that the types admit.
#[test]
fn plans_return_what_their_patterns_mean_whatever_the_texts_are() {
    let models: u64 = std::env::var("PARTITA_RANDOM_MODELS").map_or(60, |number| number.parse().unwrap());
    let written = HOSTILE_MODELS.iter().map(|text| (*text).to_owned());
    let random = (0..models.div_ceil(4)).map(random_model::text);
    let random = random.chain((0..models.div_ceil(2)).map(random_model::unclear));
    let (mut patterns, mut items) = (0, 0);
    for (seed, text) in written.chain(random).enumerate() {
        let (served, compared) = hostile::check(&text, seed as u64);
        patterns += served;
        items += compared;
    }
    assert!(patterns as u64 > models && items as u64 > 5 * models, "{patterns} patterns, {items} items");
}

/// Models whose keys are made of texts, cases, shards, time buckets and ranges beside which other entities lie.
const HOSTILE_MODELS: [&str; 9] = [
    r#"format = 1
table = { name = "Wiki", keys = ["PK", "SK"], type_attribute = "T" }
[index.GSI1]
keys = ["G1PK", "G1SK"]
[entity.Note]
attributes = { boxId = "id", noteId = "id", topic = "string", title = "string" }
key = ["NOTE#{noteId}", "NOTE"]
index.GSI1 = { key = ["BOX#{boxId}", "TOPIC#{topic}#{noteId}"] }
expect = { per = "Box", average = 6 }
[entity.Box]
attributes = { boxId = "id", name = "string" }
key = ["BOX#{boxId}", "BOX"]
[entity.Tab]
attributes = { boxId = "id", tabId = "id", label = "string" }
key = ["TAB#{tabId}", "TAB"]
index.GSI1 = { key = ["BOX#{boxId}", "{label}"] }
expect = { per = "Box", average = 4 }
[pattern]
byTopic = { in = ["boxId", "topic"], out = "Note*" }
firstOfTopic = { in = ["boxId", "topic"], out = "Note*", limit = 2 }
notes = { in = ["boxId"], out = "Note*" }
firstNotes = { in = ["boxId"], out = "Note*", limit = 3 }
byLabel = { in = ["boxId", "label"], out = "Tab*" }
chosen = { in = ["boxId"], where = "topic == 'a'", out = "Note*" }
"#,
    r#"format = 1
table = { name = "Files", keys = ["PK", "SK"], type_attribute = "T" }
[entity.File]
attributes = { folder = "string", name = "string", fileId = "id" }
key = ["F#{folder}#{name}", "FILE#{fileId}"]
[entity.Link]
attributes = { folder = "string", linkId = "id" }
key = ["F#{folder}", "LINK#{linkId}"]
[pattern]
files = { in = ["folder", "name"], out = "File*" }
first = { in = ["folder", "name"], out = "File*", limit = 1 }
links = { in = ["folder"], out = "Link*" }
"#,
    r#"format = 1
table = { name = "Mail", keys = ["PK", "SK"], type_attribute = "T" }
[entity.User]
attributes = { email = "string", name = "string" }
identity = "email"
key = ["U#{email:lower}", "A#{email}"]
[entity.Letter]
attributes = { letterId = "id", email = "string", docId = "uuid" }
key = ["U#{email:lower}", "B#{email}#{letterId}"]
[entity.Doc]
attributes = { docId = "uuid", title = "string", part = "int" }
key = ["DOC#{docId:lower}", "{part:04}"]
identity = ["docId", "part"]
[pattern]
both = { in = ["email"], out = ["User", "Letter*"] }
letters = { in = ["email"], out = "Letter*", limit = 2 }
docs = { in = ["docId"], out = "Doc*" }
"#,
    r#"format = 1
table = { name = "Orders", keys = ["PK", "SK"], type_attribute = "T" }
[entity.Order]
attributes = { orderId = "id", userId = "id" }
shard = { by = "orderId", count = 4 }
key = ["T#{orderId}#{shard}", "A"]
[entity.Line]
attributes = { orderId = "id", userId = "id", lineId = "id" }
shard = { by = "userId", count = 4 }
key = ["T#{orderId}#{shard}", "B#{lineId}"]
expect = { per = "Order", average = 3 }
[pattern]
both = { in = ["orderId", "userId"], out = ["Order", "Line*"] }
"#,
    r#"format = 1
table = { name = "Site", keys = ["PK", "SK"], type_attribute = "T" }
[entity.Visit]
attributes = { siteId = "id", visitId = "id", day = "date" }
key = ["S#{siteId}", "{day:month}#{day}#{visitId}"]
expect = { per = "Site", average = 6 }
[entity.Bill]
attributes = { siteId = "id", billId = "id", day = "date" }
key = ["S#{siteId}", "{day:month}#B#{billId}"]
expect = { per = "Site", average = 6 }
[entity.Job]
attributes = { siteId = "id", jobId = "id", state = "DONE|OPEN" }
key = ["S#{siteId}", "{state}#{jobId}"]
expect = { per = "Site", average = 4 }
[entity.Door]
attributes = { siteId = "id", doorId = "id" }
key = ["S#{siteId}", "EARLY#{doorId}"]
expect = { per = "Site", average = 4 }
[entity.Site]
attributes = { siteId = "id", name = "string" }
key = ["SITE#{siteId}", "SITE"]
[pattern]
visits = { in = ["siteId"], range = "day", out = "Visit*", limit = 3 }
jobs = { in = ["siteId"], range = "state", out = "Job*", limit = 2 }
doors = { in = ["siteId"], out = "Door*" }
"#,
    r#"format = 1
table = { name = "Choirs", keys = ["PK", "SK"], type_attribute = "T" }
[entity.Singer]
attributes = { choirId = "id", singerId = "id", name = "string" }
key = ["CHOIR {choirId}", "N {name} {singerId}"]
expect = { count = 60, max = 20 }
[pattern]
between = { in = ["choirId"], range = "name", out = "Singer*" }
named = { in = ["choirId", "name"], out = "Singer*" }
"#,
    r#"format = 1
table = { name = "Piped", keys = ["PK", "SK"], type_attribute = "T" }
[entity.Host]
attributes = { hostId = "id", name = "string" }
key = ["HOST|{hostId}", "HOST|{name}"]
[entity.Event]
attributes = { hostId = "id", eventId = "id", at = "timestamp", kind = "string" }
key = ["HOST|{hostId}", "EVENT|{kind}|{at}|{eventId}"]
expect = { per = "Host", average = 5 }
[pattern]
hosts = { in = ["hostId"], out = ["Host", "Event*"] }
events = { in = ["hostId", "kind"], range = "at", out = "Event*" }
kinds = { in = ["hostId", "kind"], out = "Event*", limit = 2 }
"#,
    r#"format = 1
table = { name = "Staff", keys = ["PK", "SK"], type_attribute = "T" }
[index.GSI1]
keys = ["G1PK", "G1SK"]
[index.GSI2]
keys = ["G2PK", "G2SK"]
[index.GSI3]
keys = ["G3PK", "G3SK"]
[entity.Clerk]
attributes = { g = "id", clerkId = "id", dept = "id", desk = "id", grade = "a|a-NEW|b", c = "NEW|OLD", name = "string", day = "date" }
key = ["CLERK#{clerkId}#", "CLERK#{g}#"]
index.GSI1 = { key = ["G#{g}#", "DEPT#{dept}-{desk}"] }
index.GSI2 = { key = ["G#{g}#", "GRADE#{grade}-{c}#{clerkId}"] }
index.GSI3 = { key = ["G#{g}#", "{desk}{dept}#{day}"] }
[entity.Guest]
attributes = { g = "id", guestId = "id", dept = "id", name = "string", grade = "a|a-NEW|b" }
key = ["GUEST#{guestId}#", "GUEST#{g}#"]
index.GSI1 = { key = ["N#{g}#", "{name:escaped}::{dept}"] }
index.GSI2 = { key = ["G#{g}#", "GRADE#{grade}"] }
[pattern]
byDept = { in = ["g", "dept"], out = "Clerk*" }
byDesk = { in = ["g", "dept", "desk"], out = "Clerk*" }
firstOfDept = { in = ["g", "dept"], out = "Clerk*", limit = 2 }
byGrade = { in = ["g", "grade"], out = "Clerk*" }
graded = { in = ["g"], where = "grade == 'a'", out = ["Clerk*", "Guest*"] }
ofDesk = { in = ["g", "desk"], out = "Clerk*" }
ofDay = { in = ["g", "desk", "dept", "day"], out = "Clerk*" }
desks = { in = ["g"], range = "desk", out = "Clerk*" }
inOrder = { in = ["g"], order = "desk asc", limit = 3, out = "Clerk*" }
byName = { in = ["g", "name"], out = "Guest*" }
named = { in = ["g"], where = "name == 'a'", out = "Guest*" }
"#,
    r#"format = 1
table = { name = "Pairs", keys = ["PK", "SK"], type_attribute = "T" }
[index.ByState]
keys = ["g", "state"]
[index.ByNumber]
keys = ["g", "n"]
[index.GSI1]
keys = ["G1PK", "G1SK"]
[entity.Alpha]
attributes = { alphaId = "id", g = "id", dept = "id", n = { type = "int", min = 0, max = 12 }, state = "NEW|NEW-ISH|OLD" }
key = ["TEAM#{g}#{alphaId}#", "TEAM#{g}"]
index.GSI1 = { key = ["G#{g}#", "{dept}-A#{state}"] }
[entity.Beta]
attributes = { betaId = "id", g = "id", dept = "id", n = { type = "int", min = 0, max = 12 }, state = "NEW|NEW-ISH|OLD" }
key = ["TEAM#{g}#{betaId}#", "BETA#{g}"]
index.GSI1 = { key = ["G#{g}#", "{dept}-B#{state}"] }
[pattern]
fresh = { in = ["g"], where = "state == 'NEW'", out = ["Alpha*", "Beta*"] }
fives = { in = ["g"], where = "n == 1", out = ["Alpha*", "Beta*"] }
numbers = { in = ["g", "n"], out = ["Alpha*", "Beta*"] }
states = { in = ["g", "state"], out = ["Alpha*", "Beta*"] }
ofDept = { in = ["g", "dept"], out = ["Alpha*", "Beta*"] }
freshOfDept = { in = ["g", "dept"], where = "state == 'NEW'", out = ["Alpha*", "Beta*"] }
"#,
];

#[test]
fn figures_of_random_models_are_those_of_the_engine() {
    let models: u64 = std::env::var("PARTITA_RANDOM_MODELS").map_or(60, |number| number.parse().unwrap());
    let models = models.div_ceil(2);
    let compared: usize = (0..models).map(|seed| figures::check(&random_model::text(seed), seed)).sum();
    assert!(compared as u64 > models, "{compared} steps");
}

#[test]
fn declared_requests_without_errors_return_all_that_their_patterns_mean() {
    let models: u64 = std::env::var("PARTITA_RANDOM_MODELS").map_or(60, |number| number.parse().unwrap());
    let (mut calls, mut refused) = (0, 0);
    for seed in 0..models {
        for text in [random_model::declared(seed), random_model::bounded(seed)] {
            let (compared, wrong) = declared::compare(&text);
            calls += compared;
            refused += wrong;
        }
    }
    assert!(calls > 100 && refused > 40, "{calls} calls, {refused} patterns refused");
}

#[test]
fn reads_of_random_models_are_let_through_if_a_pattern_makes_them() {
    let models: u64 = std::env::var("PARTITA_RANDOM_MODELS").map_or(60, |number| number.parse().unwrap());
    let models = models.div_ceil(6);
    let tried: Vec<reads::Tried> =
        (0..models).map(|seed| reads::check(&random_model::text(seed), seed)).collect();
    let accepted: usize = tried.iter().map(|one| one.accepted).sum();
    let refused: usize = tried.iter().map(|one| one.refused).sum();
    assert!(
        accepted as u64 > 50 * models && refused as u64 > 50 * models,
        "{accepted} accepted, {refused} refused"
    );
}

/// Bounds are written in the precision of the values, so the first and the last of them are found.
#[test]
fn ranges_hold_the_times_at_their_ends_in_every_precision() {
    let times = [
        ("minute", ["2026-01-01T00:00Z", "2026-01-31T23:59Z"]),
        ("second", ["2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z"]),
        ("millisecond", ["2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.999Z"]),
        ("microsecond", ["2026-01-01T00:00:00.000000Z", "2026-01-31T23:59:59.999999Z"]),
    ];
    let bounds = times.iter().map(|(_, [from, to])| (*from, *to));
    for ((precision, ends), (from, to)) in
        times.iter().flat_map(|one| bounds.clone().map(move |two| (one, two)))
    {
        let text = format!(
            r#"format = 1
table = {{ name = "Gym", keys = ["PK", "SK"], type_attribute = "type" }}
[entity.Visit]
attributes = {{ gym = "id", at = {{ type = "timestamp", precision = "{precision}" }}, visitId = "id" }}
key = ["GYM#{{gym}}", "VISIT#{{at}}#{{visitId}}"]
[pattern]
visits = {{ in = ["gym"], range = "at", order = "at", out = "Visit*" }}
"#
        );
        let model = read(&Source::new("gym.toml", &text)).unwrap();
        let outside = ["2025-12-31T23:59:59.999999Z", "2026-02-01T00:00:00.000000Z"];
        let outside = outside.map(|time| format!("{}Z", &time[..ends[0].len() - 1]));
        let all = ends.map(str::to_owned).into_iter().chain(outside);
        let items = all.map(|at| {
            let key = format!("VISIT#{at}#v");
            let item = json!({
                "PK": { "S": "GYM#g" }, "SK": { "S": key }, "type": { "S": "Visit" }, "gym": { "S": "g" },
                "at": { "S": at }, "visitId": { "S": "v" },
            });
            item_json::decode(&item).unwrap()
        });
        let trial = Trial::with(&model, items.collect());
        let (pattern, plan) = promised(&model).pop().unwrap();
        let values = [("gym".to_owned(), "g".to_owned())].into_iter().collect();
        let call = Call { values, range: Some((from.to_owned(), to.to_owned())) };
        let answer = trial.answer(pattern, &plan, &call);
        let found: Vec<_> =
            answer.items.iter().map(|item| item.get("at").unwrap().to_text().unwrap()).collect();
        assert_eq!(found, ends, "{precision}, from {from} to {to}");
    }
}

/// Keys in lower case and time buckets hold a part of their values: exactly the wanted items are returned, also where others have the same key.
#[test]
fn inputs_are_found_as_they_are() {
    let text = r#"format = 1
table = { name = "Notes", keys = ["PK", "SK"], type_attribute = "type" }
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[index.GSI2]
keys = ["GSI2PK", "GSI2SK"]
[entity.Note]
attributes = { noteId = "id", at = "timestamp", tag = "string", topics = "set" }
key = ["NOTE#{noteId}", "NOTE"]
index.GSI1 = { key = ["MONTH#{at:month}", "{noteId}"] }
index.GSI2 = { key = ["TAG#{tag:lower}", "{noteId}"] }
[pattern]
at = { in = ["at"], out = "Note*" }
tag = { in = ["tag"], out = "Note*" }
first = { in = ["tag"], out = "Note*", limit = 1 }
topic = { in = ["tag"], out = "Note*", where = "contains(topics, 'x')" }
"#;
    let model = read(&Source::new("notes.toml", text)).unwrap();
    let one = |(number, (at, tag, topic)): (usize, (&str, &str, &str))| {
        let item = json!({
            "PK": { "S": format!("NOTE#n{number}") }, "SK": { "S": "NOTE" }, "type": { "S": "Note" },
            "noteId": { "S": format!("n{number}") }, "at": { "S": at }, "tag": { "S": tag }, "topics": { "SS": [topic] },
            "GSI1PK": { "S": format!("MONTH#{}", &at[..7]) }, "GSI1SK": { "S": format!("n{number}") },
            "GSI2PK": { "S": format!("TAG#{}", tag.to_lowercase()) }, "GSI2SK": { "S": format!("n{number}") },
        });
        item_json::decode(&item).unwrap()
    };
    let notes = [
        ("2026-01-01T00:00:00Z", "Foo", "x"),
        ("2026-01-02T00:00:00Z", "foo", "x"),
        ("2026-01-02T00:00:00Z", "FOO", "xy"),
        ("2026-02-02T00:00:00Z", "foo", "y"),
    ];
    let trial = Trial::with(&model, notes.into_iter().enumerate().map(one).collect());
    let patterns = promised(&model);
    assert_eq!(patterns.len(), 4);
    for (pattern, plan) in &patterns {
        assert!(trial.check(pattern, plan, text) > 1, "{} finds something", pattern.name);
    }
}

/// What a pattern names is returned, even if it is only on the way to the rest.
#[test]
fn relationships_are_returned_with_what_they_lead_to() {
    let text = r#"format = 1
table = { name = "Cms", keys = ["PK", "SK"], type_attribute = "EntityType" }
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Article]
attributes = { articleId = "id", title = "string" }
key = ["ARTICLE#{articleId}", "METADATA"]
[entity.Favorite]
edge = ["userId", "articleId"]
attributes = { userId = "id", articleId = "id", stars = "int", createdAt = "timestamp" }
key = ["USER#{userId}", "FAVORITE#{articleId}"]
index.GSI1 = { key = ["ARTICLE#{articleId}", "FAVORITE#{createdAt}#{userId}"] }
[pattern]
favorites = { in = ["userId"], out = "Article*", via = "Favorite", limit = 2 }
fans = { in = ["articleId"], out = ["Favorite*", "User*"], via = "Favorite", order = "createdAt desc", limit = 2 }
allFans = { in = ["articleId"], out = ["Favorite*", "User*"], via = "Favorite" }
keenFans = { in = ["articleId"], out = ["Favorite*", "User*"], via = "Favorite", where = "stars > 40" }
"#;
    let (patterns, items) = check_model(text, "cms", 200);
    assert!(patterns == 4 && items > 20, "{patterns} patterns, {items} items");
}
