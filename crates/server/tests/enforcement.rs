//! Whatever an enforced model accepts, an audit accepts: random traffic, most of it wrong, on the real engine with models as its judge.
//! After each request the whole table is audited. Well-formed requests in between must succeed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod traffic;

use partita_api::Operation;
use partita_design::audit::table::TableAudit;
use partita_design::exchange::item_json::decode;
use partita_design::model::Index;
use partita_design::{Model, Source, read};
use partita_engine::clock::Clock;
use partita_engine::{Breach, Engine, JudgedWrite, Judgement, WriteJudge};
use partita_server::models::{Mode, ModelWatch, Models};
use partita_store_memory::MemoryStore;
use partita_value::names::TableName;
use serde_json::{Value, json};
use std::sync::Arc;
use traffic::{Random, noise, pages, parcels, readers, sessions, well_formed};

const HEAD: &str = r#"
format = 1
[table]
name = "Mixed"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string", name = { type = "string", optional = true } }
key = ["USER#{userId}", "USER"]
"#;
const UNIQUE: &str = "unique = [\"email\"]\n";
const TASK: &str = r#"
[entity.Task]
attributes = { taskId = "id", userId = "id", status = "OPEN|DONE", revision = "int" }
key = ["USER#{userId}", "TASK#{taskId}"]
index.GSI1 = { key = ["STATUS#{status}#{shard:02}", "{taskId}"], when = "status == 'OPEN'", shard = { by = "taskId", count = 4 } }
"#;
const LOCK: &str = "lock = \"revision\"\n";
const ORDER: &str = r#"
[entity.Order]
attributes = { orderId = "id", userId = "id", total = "int", note = { type = "string", optional = true } }
key = ["USER#{userId}", "ORDER#{orderId}"]
"#;
const COPY: &str = r#"
[entity.OrderById]
copies = "Order"
attributes = { orderId = "id", userId = "id", total = "int" }
key = ["ORDER#{orderId}", "ORDER"]
"#;
/// The key of this copy changes with a value.
const COPY_BY_TOTAL: &str = r#"
[entity.OrderByTotal]
copies = "Order"
attributes = { orderId = "id", userId = "id", total = "int" }
key = ["TOTAL#{total}", "{userId}#{orderId}"]
"#;
const VERSIONS: &str = r#"
[entity.Version]
attributes = { docId = "id", version = "int", content = "string" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:08}"]
versions = "version"
[entity.Latest]
copies = "Version"
identity = "docId"
attributes = { docId = "id", version = "int", content = "string" }
key = ["DOC#{docId}", "LATEST"]
"#;

/// Aggregates, values that are unique together, and a copy of the newest version whose key changes.
const COMPANIONS: &str = r#"
[entity.Post]
attributes = { postId = "id" }
key = ["POST#{postId}", "POST"]
aggregates = { comments = "count Comment", score = "sum Comment.points where state == 'OK'", best = "max Comment.points" }
[entity.Comment]
attributes = { postId = "id", commentId = "id", points = "int", state = "OK|BAD" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
[entity.Page]
attributes = { pageId = "id", tenantId = "id", slug = "string" }
key = ["PAGE#{pageId}", "PAGE"]
unique = [["tenantId", "slug"]]
[entity.Edition]
attributes = { bookId = "id", version = "int", state = "OK|BAD" }
identity = ["bookId", "version"]
key = ["BOOK#{bookId}", "V#{version:08}"]
versions = "version"
[entity.Current]
copies = "Edition"
latest = true
identity = "bookId"
attributes = { bookId = "id", version = "int", state = "OK|BAD" }
key = ["STATE#{state}", "BOOK#{bookId}"]
"#;

/// Boards whose identity is not in their key, so that several items may have it, and cards that are counted by what their sets contain.
const BOARDS: &str = r#"
[entity.Board]
attributes = { boardId = "id?", part = "id" }
identity = "boardId"
key = ["BOARD#{part}", "BOARD"]
aggregates = { cards = "count Card", weight = "sum Card.weight", urgent = "count Card where contains(tags, 'urgent')", top = "max Card.weight" }
[entity.Card]
attributes = { cardId = "id", boardId = "id?", weight = "decimal?", tags = "set?" }
key = ["CARD#{cardId}", "CARD"]
"#;

/// One of a family of models: each number has other parts.
fn model(number: u64) -> Model {
    let optional = |bit: u32, text: &'static str| if number >> bit & 1 == 0 { text } else { "" };
    let parts = [
        HEAD,
        optional(0, UNIQUE),
        TASK,
        optional(1, LOCK),
        ORDER,
        optional(2, COPY),
        optional(3, COPY_BY_TOTAL),
        optional(4, VERSIONS),
        optional(5, COMPANIONS),
        optional(6, BOARDS),
    ];
    read(&Source::new("model.toml", parts.concat())).unwrap()
}

/// Judges as the models do, but never on the writer: every write has its verdict prepared.
struct Prepared(Models);

impl WriteJudge for Prepared {
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge> {
        self
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn generation(&self, tables: &mut dyn Iterator<Item = &TableName>) -> u64 {
        self.0.generation(tables)
    }

    fn steps(&self, _: &[JudgedWrite<'_>]) -> usize {
        usize::MAX
    }

    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Judgement {
        self.0.judge(writes)
    }

    fn record(&self, breaches: &[Breach]) {
        self.0.record(breaches);
    }
}

/// The table of a model, all of whose keys are texts.
fn table(model: &Model) -> Value {
    let schema = |keys: &[String]| -> Vec<Value> {
        let kinds = keys.iter().zip(["HASH", "RANGE"]);
        kinds.map(|(name, kind)| json!({ "AttributeName": name, "KeyType": kind })).collect()
    };
    let index = |index: &Index| json!({ "IndexName": index.name, "KeySchema": schema(&index.keys), "Projection": { "ProjectionType": "ALL" } });
    let keys = model.indexes.iter().flat_map(|index| &index.keys).chain(&model.table.keys);
    let attribute = |name: &String| json!({ "AttributeName": name, "AttributeType": "S" });
    let mut table = json!({
        "TableName": model.table.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema(&model.table.keys),
        "AttributeDefinitions": keys.map(attribute).collect::<Vec<_>>(),
    });
    if !model.indexes.is_empty() {
        table["GlobalSecondaryIndexes"] = model.indexes.iter().map(index).collect();
    }
    table
}

struct Database {
    engine: Engine<MemoryStore>,
    model: Model,
}

impl Database {
    async fn new(model: Model, mode: Mode, is_prepared: bool) -> Database {
        let engine = Engine::open(MemoryStore::new(), "us-east-1", Clock::System).unwrap();
        let models = Models::default();
        models.attach(ModelWatch::new(model.clone(), mode), false).unwrap();
        let judge: Arc<dyn WriteJudge> =
            if is_prepared { Arc::new(Prepared(models)) } else { Arc::new(models) };
        engine.set_judge(judge);
        let database = Database { engine, model };
        database.call("CreateTable", &table(&database.model)).await.unwrap();
        database
    }

    async fn call(&self, operation: &str, body: &Value) -> Result<Value, Value> {
        let operation = Operation::from_name(operation).unwrap();
        let outcome = match partita_wire::decode(operation, body.to_string().as_bytes()) {
            Ok(request) => self.engine.execute(request).await,
            Err(partita_wire::Rejection::Malformed(e) | partita_wire::Rejection::Invalid(e)) => Err(e),
        };
        let parsed = |json: Vec<u8>| serde_json::from_slice(&json).unwrap_or(Value::Null);
        match outcome {
            Ok(response) => Ok(parsed(partita_wire::encode(&response))),
            Err(exception) => Err(parsed(partita_wire::encode_exception(&exception))),
        }
    }

    async fn items(&self) -> Vec<Value> {
        let found = self.call("Scan", &json!({ "TableName": self.model.table.name })).await.unwrap();
        found["Items"].as_array().unwrap().clone()
    }

    async fn violations(&self) -> Vec<String> {
        let mut audit = TableAudit::new(&self.model);
        let items = self.items().await;
        items.iter().for_each(|item| audit.add(&decode(item).unwrap()));
        let (_, violations) = audit.finish();
        violations.into_values().flat_map(|rule| rule.examples).chain(readers::missed(&items)).collect()
    }
}

#[tokio::test]
async fn after_any_traffic_under_enforce_an_audit_finds_nothing() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..64 {
        let database = Database::new(model(seed), Mode::Enforce, seed % 4 == 1).await;
        let mut random = Random::new(seed);
        for _ in 0..150 {
            let (operation, body) = if random.below(3) == 0 {
                let (operation, body) = well_formed(&mut random, &database.model, &database.items().await);
                let outcome = database.call(operation, &body).await;
                assert!(outcome.is_ok(), "seed {seed}: {operation} {body}: {outcome:?}");
                (operation, body)
            } else {
                let (operation, body) = noise(&mut random);
                match database.call(operation, &body).await {
                    Ok(_) => accepted += 1,
                    Err(_) => refused += 1,
                }
                (operation, body)
            };
            let found = database.violations().await;
            assert!(found.is_empty(), "seed {seed}: after {operation} {body}: {found:?}");
        }
    }
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

/// Requests of one kind of traffic.
struct Traffic {
    entities: &'static str,
    noise: fn(&mut Random) -> (&'static str, Value),
    well_formed: fn(&mut Random, &[Value]) -> (&'static str, Value),
}

impl Traffic {
    async fn leaves_a_clean_table(&self) {
        let (mut accepted, mut refused) = (0, 0);
        for seed in 0..24 {
            let model = read(&Source::new("model.toml", [HEAD, self.entities].concat())).unwrap();
            let database = Database::new(model, Mode::Enforce, seed % 4 == 1).await;
            let mut random = Random::new(seed);
            for _ in 0..150 {
                let is_noise = random.below(3) > 0;
                let (operation, body) = match is_noise {
                    true => (self.noise)(&mut random),
                    false => (self.well_formed)(&mut random, &database.items().await),
                };
                let outcome = database.call(operation, &body).await;
                assert!(is_noise || outcome.is_ok(), "seed {seed}: {operation} {body}: {outcome:?}");
                *(if outcome.is_ok() { &mut accepted } else { &mut refused }) += 1;
                let found = database.violations().await;
                assert!(found.is_empty(), "seed {seed}: after {operation} {body}: {found:?}");
            }
        }
        assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
    }
}

#[tokio::test]
async fn copies_that_are_hard_to_find_stay_those_of_their_originals() {
    let (noise, well_formed) = (parcels::noise, parcels::well_formed);
    Traffic { entities: parcels::ENTITIES, noise, well_formed }.leaves_a_clean_table().await;
}

#[tokio::test]
async fn versions_whose_keys_hold_parts_of_their_values_have_a_copy_of_the_newest() {
    let (noise, well_formed) = (pages::noise, pages::well_formed);
    Traffic { entities: pages::ENTITIES, noise, well_formed }.leaves_a_clean_table().await;
}

/// No sort key, no types, keys that are attributes, and numbers in keys.
const SESSIONS: &str = r#"
format = 1
[table]
name = "Sessions"
keys = ["token"]
ttl = "until"
[index.ByDue]
keys = ["duePK", "dueSK"]
[entity.Seat]
attributes = { row = "int", number = "int", guest = "string?" }
identity = ["row", "number"]
key = ["SEAT#{row:03}#{number}"]
unique = [["row", "guest"]]
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}"]
aggregates = { sessions = "count Session where exists(due)", last = "max Session.due" }
[entity.Session]
attributes = { token = "string", email = "string?", userId = "id?", due = "date?", until = "int?" }
identity = "token"
key = ["{token}"]
unique = ["email"]
index.ByDue = { key = ["DUE#{due:month}#{shard}", "{due}#{token}"], shard = { by = "token", count = 3 } }
"#;

#[tokio::test]
async fn a_table_without_a_sort_key_and_types_stays_clean() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..12 {
        let model = read(&Source::new("model.toml", SESSIONS)).unwrap();
        let database = Database::new(model, Mode::Enforce, seed % 4 == 1).await;
        let mut random = Random::new(seed);
        for _ in 0..250 {
            let (operation, body) = sessions::noise(&mut random);
            match database.call(operation, &body).await {
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
            let found = database.violations().await;
            assert!(found.is_empty(), "seed {seed}: after {operation} {body}: {found:?}");
        }
    }
    assert!(accepted > 200 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[tokio::test]
async fn the_same_traffic_breaks_rules_where_they_are_only_reported() {
    let database = Database::new(model(0), Mode::Warn, false).await;
    let mut random = Random::new(7);
    for _ in 0..150 {
        let (operation, body) = noise(&mut random);
        let _ = database.call(operation, &body).await;
    }
    assert!(database.violations().await.len() > 4);
}
