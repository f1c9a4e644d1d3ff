//! The requests of declared writes, carried out on the items of `seed` and judged: an enforced table accepts them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Model;
use partita_design::audit::judge::{Change, judge};
use partita_design::exchange::item_json::{decode, encode};
use partita_design::exchange::write_requests::write_requests;
use partita_design::generate::Generator;
use partita_design::item::{Item, Value as ItemValue};
use partita_design::model::Write;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// What the requests of a write do.
struct Sent {
    /// The kind and the input of each part.
    parts: Vec<(String, Value)>,
    /// Why an enforced table would refuse them.
    refusals: Vec<String>,
}

/// All items that are seeded, by key.
fn seeded(generator: &Generator<'_>) -> HashMap<String, Item> {
    let entities = generator.model.entities.iter().filter(|entity| !generator.is_follower(entity));
    let numbered = entities.flat_map(|entity| generator.numbers(entity).map(move |number| (entity, number)));
    let items = numbered.flat_map(|(entity, number)| generator.bundle(entity, number));
    items.map(|item| (key_of(generator.model, &encode(&item)), item)).collect()
}

/// The requests of a write, sent to a table that was just seeded.
fn sent(generator: &Generator<'_>, seeded: &HashMap<String, Item>, write: &Write) -> Sent {
    let (model, mut stored) = (generator.model, seeded.clone());
    let mut sent = Sent { parts: Vec::new(), refusals: Vec::new() };
    for request in write_requests(generator, write) {
        let parts = parts_of(request.operation, &request.input);
        let mut changes = BTreeMap::new();
        for (kind, part) in &parts {
            let key = key_of(model, part.get("Key").or(part.get("Item")).unwrap().as_object().unwrap());
            let old = stored.get(&key).cloned();
            if !holds(model, part, old.as_ref()) {
                sent.refusals.push(format!("the condition of {kind} {key} does not hold"));
            }
            let names = model.table.keys.iter();
            let source = decode(part.get("Key").or(part.get("Item")).unwrap()).unwrap();
            let only_key = names.filter_map(|name| Some((name.clone(), source.get(name)?.clone()))).collect();
            let new = result(kind, part, old.clone(), &only_key);
            if changes.insert(key.clone(), Change { key: only_key, old, new }).is_some() {
                sent.refusals.push(format!("{key} is written twice"));
            }
        }
        let changes: Vec<(String, Change)> = changes.into_iter().collect();
        let decision: Vec<Change> = changes.iter().map(|(_, change)| change.clone()).collect();
        sent.refusals.extend(judge(model, &decision).into_iter().map(|(_, found)| found.message));
        for (key, change) in changes {
            match change.new {
                Some(item) => _ = stored.insert(key, item),
                None => _ = stored.remove(&key),
            }
        }
        sent.parts.extend(parts);
    }
    sent
}

fn parts_of(operation: &str, input: &Value) -> Vec<(String, Value)> {
    let one = |part: &Value| {
        let (kind, part) = part.as_object().unwrap().iter().next().unwrap();
        (kind.trim_end_matches("Request").to_owned(), part.clone())
    };
    match operation {
        "TransactWriteItems" => input["TransactItems"].as_array().unwrap().iter().map(one).collect(),
        "BatchWriteItem" => {
            let tables = input["RequestItems"].as_object().unwrap().values();
            tables.flat_map(|parts| parts.as_array().unwrap()).map(one).collect()
        }
        _ => vec![(operation.trim_end_matches("Item").to_owned(), input.clone())],
    }
}

fn key_of(model: &Model, item: &Map<String, Value>) -> String {
    let keys: Vec<String> = model.table.keys.iter().map(|name| item[name].to_string()).collect();
    keys.join(" ")
}

/// Whether the item exists, if the condition is about that.
fn holds(model: &Model, part: &Value, old: Option<&Item>) -> bool {
    let text = part["ConditionExpression"].as_str().unwrap_or_default();
    let names = [model.table.keys[0].clone(), format!("#{}", model.table.keys[0])];
    let is = |function: &str| names.iter().any(|name| text == format!("{function}({name})"));
    match old {
        Some(_) => !is("attribute_not_exists"),
        None => !is("attribute_exists"),
    }
}

fn result(kind: &str, part: &Value, old: Option<Item>, key: &Item) -> Option<Item> {
    match kind {
        "Put" => Some(decode(&part["Item"]).unwrap()),
        "Update" => Some(updated(part, old.unwrap_or_else(|| key.clone()))),
        "Delete" => None,
        _ => old,
    }
}

/// Carries out an implied update, whose clauses assign values only.
fn updated(part: &Value, mut item: Item) -> Item {
    let text = part["UpdateExpression"].as_str().unwrap_or_default();
    let mut clause = "";
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty() && *word != "=").collect();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if ["SET", "REMOVE", "ADD"].contains(&word) {
            clause = word;
            continue;
        }
        let name = part["ExpressionAttributeNames"][word].as_str().unwrap_or(word).to_owned();
        if clause == "REMOVE" {
            item.remove(&name);
            continue;
        }
        let value = &part["ExpressionAttributeValues"][words.next().unwrap()];
        let value = decode(&json!({ "value": value })).unwrap().remove("value").unwrap();
        let value = if clause == "ADD" { sum(item.get(&name), &value) } else { value };
        item.insert(name, value);
    }
    item
}

fn sum(old: Option<&ItemValue>, added: &ItemValue) -> ItemValue {
    let number = |value: &ItemValue| value.to_text().unwrap().parse::<f64>().unwrap();
    let sum = old.map_or(0.0, number) + number(added);
    ItemValue::Number(((sum * 100.0).round() / 100.0).to_string())
}

/// The refusals of all writes of a model that are not declared as expressions.
fn refusals(text: &str) -> Vec<String> {
    let model = support::model(text);
    let generator = Generator::of_examples(&model);
    let seeded = seeded(&generator);
    let is_plain = |write: &&Write| {
        write.actions.iter().all(|action| action.expression.is_none() && action.condition.is_none())
    };
    let writes = model.writes.iter().filter(is_plain);
    let refused = |write: &Write| {
        let sent = sent(&generator, &seeded, write);
        let name = &write.name;
        sent.refusals.iter().map(|refusal| format!("{name}: {refusal} {}", json!(sent.parts))).collect()
    };
    writes.flat_map(|write| -> Vec<String> { refused(write) }).collect()
}

fn model_of(path: &str) -> String {
    std::fs::read_to_string(support::root().join(path)).unwrap()
}

/// The kinds of the parts of a write, with their keys.
fn kinds(text: &str, write: &str) -> Vec<String> {
    let model = support::model(text);
    let generator = Generator::of_examples(&model);
    let write = model.writes.iter().find(|own| own.name == write).unwrap();
    let parts = sent(&generator, &seeded(&generator), write).parts;
    parts.into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn an_enforced_table_accepts_the_writes_of_good_models() {
    let models = ["document-versions", "users-and-groups", "blog", "social-network", "task-manager"];
    let models = models.map(|name| format!("models/{name}.toml"));
    let good = ["customers-orders", "profiles", "workshop", "hotel", "online-shop"];
    let good = good.map(|name| format!("crates/design/tests/good/{name}.toml"));
    for path in models.iter().chain(&good) {
        assert_eq!(refusals(&model_of(path)), [""; 0], "{path}");
    }
}

const PAGES: &str = r#"
[entity.Version]
attributes = { docId = "id", version = "int", folder = "id", content = "string?" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:04}"]
versions = "version"
expect = { count = 500, max = 100 }
[entity.Latest]
copies = "Version"
latest = true
identity = "docId"
attributes = { docId = "id", version = "int", folder = "id", content = "string?" }
key = ["DOC#{docId}", "LATEST"]
expect = { count = 100 }
[pattern]
latest = { in = ["docId"], out = "Latest" }
history = { in = ["docId"], out = "Version*", order = "version desc", limit = 20 }
inFolder = { in = ["folder"], out = "Latest*" }
[write]
save = { transact = ["create Version", "put Latest"] }
saveTwo = { transact = ["create Version*", "put Latest"] }
saveBoth = { transact = ["create Version", "put Latest", "create Version", "put Latest"] }
"#;

#[test]
fn versions_are_added_and_removed_with_the_copy_of_the_newest() {
    let more = r#"prune = { delete = "Version" }
pruneMany = { transact = ["delete Version*"] }
pruneAndSave = { transact = ["delete Version", "create Version", "put Latest"] }
undo = { transact = ["delete Version", "put Latest"] }
edit = { transact = ["update Version set content", "update Latest set content"] }
"#;
    let text = support::with_table(&format!("{PAGES}{more}"));
    assert_eq!(refusals(&text), [""; 0]);
    assert_eq!(kinds(&text, "prune"), ["Delete", "ConditionCheck"]);
    assert_eq!(kinds(&text, "undo"), ["Delete", "Put", "ConditionCheck"]);
    // With one version each, the copy goes with it.
    let single = format!("{PAGES}drop = {{ transact = [\"delete Version\", \"delete Latest\"] }}\n");
    let single = support::with_table(&single.replace("count = 500", "count = 100"));
    assert_eq!(refusals(&single), [""; 0]);
}

#[test]
fn the_copy_of_the_newest_version_moves() {
    let moving = PAGES.replace(r#"["DOC#{docId}", "LATEST"]"#, r#"["FOLDER#{folder}", "DOC#{docId}"]"#);
    let more = r#"move = { transact = ["create Version", "delete Latest", "put Latest"] }
replace = { transact = ["create Version", "delete Latest", "create Latest"] }
undo = { transact = ["delete Version", "put Latest"] }
"#;
    let text = support::with_table(&format!("{moving}{more}"));
    assert_eq!(refusals(&text), [""; 0]);
    assert_eq!(kinds(&text, "save"), ["Put", "Put", "Delete"]);
    assert_eq!(kinds(&text, "move"), ["Put", "Delete", "Put"]);
}

#[test]
fn copies_belong_to_the_originals_that_change_alike() {
    let more = r#"
switch = { transact = ["delete Membership", "delete GroupMember", "create Membership", "create GroupMember"] }
switched = { transact = ["create Membership", "create GroupMember", "delete Membership", "delete GroupMember"] }
sorted = { transact = ["delete Membership", "create Membership", "delete GroupMember", "create GroupMember"] }
two = { transact = ["create GroupMember", "create Membership", "create Membership", "create GroupMember"] }
both = { transact = ["update Membership set since", "update GroupMember set since", "create Membership", "create GroupMember"] }
"#;
    let text = model_of("models/users-and-groups.toml") + more;
    assert_eq!(refusals(&text), [""; 0]);
    assert_eq!(kinds(&text, "switch"), ["Delete", "Delete", "Put", "Put"]);
}

#[test]
fn what_summarises_items_is_written_for_all_of_them() {
    let jobs = r#"
swap = { transact = ["delete Job", "create Job", "update Customer set jobCount, revenue, lastJobAt"] }
each = { transact = ["create Job", "update Customer set jobCount, revenue, lastJobAt", "create Job", "update Customer set jobCount, revenue, lastJobAt"] }
after = { transact = ["update Customer set jobCount, revenue, lastJobAt", "create Job", "create Job"] }
"#;
    assert_eq!(refusals(&(model_of("crates/design/tests/good/workshop.toml") + jobs)), [""; 0]);
}

/// A model of seats, whose write `hold` has this expression, condition and values.
fn seats(expression: &str, condition: &str, values: &str) -> String {
    support::with_table(&format!(
        r#"
[entity.Event]
attributes = {{ eventId = "ulid", title = "string" }}
key = ["EVENT#{{eventId}}", "EVENT"]
expect = {{ count = 20 }}
[entity.Seat]
attributes = {{ eventId = "ulid", seatId = "id", state = "FREE|HELD|SOLD", heldBy = "ulid?", holdUntil = "int?", remarks = "list?" }}
key = ["EVENT#{{eventId}}", "SEAT#{{seatId}}"]
expect = {{ per = "Event", average = 50, max = 500 }}
[pattern]
event = {{ in = ["eventId"], out = ["Event", "Seat*"] }}
[write]
hold = {{ update = "Seat", expression = "{expression}", condition = "{condition}", values = {{ {values} }} }}
"#
    ))
}

#[test]
fn declared_conditions_hold_for_the_items_of_seed() {
    let set = "SET #state = :held, heldBy = :who";
    for (expression, condition, values) in [
        (set, "#state = :free OR (#state = :held AND holdUntil < :now)", ""),
        (set, "attribute_exists(PK) AND (holdUntil BETWEEN :a AND :b OR #state IN (:free, :sold))", ""),
        (set, "holdUntil BETWEEN :a AND :b", ""),
        (set, "#state IN (:free, :other) AND NOT holdUntil > :now", ""),
        (set, "holdUntil < :now AND NOT #state = :sold", r#"":sold" = "SOLD""#),
        (set, "attribute_not_exists(heldBy) AND #state <> :other", ""),
        (set, "begins_with(seatId, :start) AND contains(seatId, :part)", ""),
        ("SET #state = :sold", "#state = :held", r#"":held" = "HELD", ":sold" = "SOLD""#),
        ("SET holdUntil = :until", "#state = :held AND holdUntil <= :now", r#"":held" = "HELD""#),
    ] {
        let text = seats(expression, condition, values);
        let model = support::model(&text);
        let generator = Generator::of_examples(&model);
        let request = write_requests(&generator, &model.writes[0]).remove(0).input;
        let seeded = seeded(&generator);
        let item = &seeded[&key_of(&model, request["Key"].as_object().unwrap())];
        let sent = decode(&request["ExpressionAttributeValues"]).unwrap();
        let sent = sent.into_iter().map(|(name, value)| (name, value.to_text().unwrap())).collect();
        let condition = model.writes[0].actions[0].condition.as_ref().unwrap();
        let meant = condition.known(&sent).typed(&model.entities[1]);
        assert_eq!(meant.conjuncts().len(), condition.conjuncts().len(), "{meant}");
        assert!(meant.holds_for(item), "{meant} {item:?}");
    }
    let model = support::model(&seats(
        "SET #state = :sold",
        "#state = :held",
        r#"":held" = "HELD", ":sold" = "SOLD""#,
    ));
    let request = write_requests(&Generator::of_examples(&model), &model.writes[0]).remove(0).input;
    let wanted = json!({ ":held": { "S": "HELD" }, ":sold": { "S": "SOLD" } });
    assert_eq!(request["ExpressionAttributeValues"], wanted);
}

#[test]
fn what_is_created_belongs_to_the_items_that_change_with_it() {
    let text = support::with_table(
        r#"
[entity.Event]
attributes = { eventId = "ulid", title = "string" }
key = ["EVENT#{eventId}", "EVENT"]
aggregates = { sold = "count Seat where state == 'SOLD'", revenue = "sum Booking.total" }
expect = { count = 20 }
[entity.Customer]
attributes = { customerId = "ulid", name = "string" }
key = ["CUSTOMER#{customerId}", "CUSTOMER"]
expect = { count = 100 }
[entity.Booking]
attributes = { bookingId = "ulid", eventId = "ulid", customerId = "ulid", total = "decimal" }
key = ["CUSTOMER#{customerId}", "BOOKING#{bookingId}"]
expect = { per = "Customer", average = 4, max = 50 }
[entity.Seat]
attributes = { eventId = "ulid", seatId = "id", state = "FREE|SOLD" }
key = ["EVENT#{eventId}", "SEAT#{seatId}"]
expect = { per = "Event", average = 5 }
[pattern]
seats = { in = ["eventId"], out = ["Event", "Seat*"] }
bookings = { in = ["customerId"], out = ["Customer", "Booking*"] }
[write]
book = { transact = ["create Booking", "update Seat set state", "update Event set sold, revenue"] }
"#,
    );
    assert_eq!(refusals(&text), [""; 0]);
}

#[test]
fn what_is_created_does_not_exist() {
    let text = support::with_table(
        r#"
[entity.Customer]
attributes = { username = "id", email = "string" }
identity = "username"
key = ["CUSTOMER#{username}", "CUSTOMER"]
unique = ["email"]
[entity.CustomerEmail]
attributes = { email = "string", username = "id" }
identity = "email"
key = ["CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL"]
[entity.Settings]
attributes = { username = "id", theme = "LIGHT|DARK" }
key = ["CUSTOMER#{username}", "SETTINGS"]
[pattern]
customer = { in = ["username"], out = ["Customer", "Settings"] }
owner = { in = ["email"], out = "CustomerEmail" }
[write]
register = { transact = ["create Customer", "create CustomerEmail"] }
createOne = { create = "Customer" }
choose = { create = "Settings" }
"#,
    );
    assert_eq!(refusals(&text), [""; 0]);
    let model = support::model(&text);
    let sent = write_requests(&Generator::of_examples(&model), &model.writes[0]).remove(0).input;
    let parts = sent["TransactItems"].as_array().unwrap();
    let customer = parts.iter().find(|part| part["Put"]["Item"]["type"]["S"] == "Customer").unwrap();
    let other = parts.iter().find(|part| part["Put"]["Item"]["type"]["S"] == "CustomerEmail").unwrap();
    for name in ["username", "email"] {
        assert_eq!(customer["Put"]["Item"][name], other["Put"]["Item"][name], "{sent:#}");
    }
}
