//! Random requests: well-formed ones, as an application that follows the model sends them, and noise, most of which breaks a rule.

mod boards;
mod companions;
pub mod pages;
pub mod parcels;
pub mod readers;
pub mod sessions;

use partita_design::Model;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A small generator of random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

type Request = (&'static str, Value);

/// An item from `name=value` words; digits are numbers.
fn item(text: &str) -> Value {
    let value = |text: &str| match text.parse::<i64>() {
        Ok(_) => json!({ "N": text }),
        Err(_) => json!({ "S": text }),
    };
    let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
    Value::Object(pairs.map(|(name, text)| (name.to_owned(), value(text))).collect())
}

fn key(item: &Value) -> Value {
    json!({ "PK": item["PK"], "SK": item["SK"] })
}

fn user(id: &str, email: &str) -> Value {
    item(&format!("PK=USER#{id} SK=USER type=User userId={id} email={email}"))
}

fn marker(email: &str) -> Value {
    item(&format!("PK=UNIQUE#User#email#{email} SK=UNIQUE#User#email#{email}"))
}

/// The tasks, and where readers look for them: `"STATUS#OPEN#%02d" % (zlib.crc32(id) % 4)` in Python.
const TASKS: [(&str, &str); 2] = [("t", "STATUS#OPEN#00"), ("s", "STATUS#OPEN#03")];

fn task((id, place): (&str, &str), status: &str, revision: i64) -> Value {
    let index = if status == "OPEN" { format!("GSI1PK={place} GSI1SK={id}") } else { String::new() };
    item(&format!(
        "PK=USER#u SK=TASK#{id} type=Task taskId={id} userId=u status={status} revision={revision} {index}"
    ))
}

/// An order and its copies.
fn order(user: &str, total: i64) -> [Value; 3] {
    let shared = format!("orderId=o userId={user} total={total}");
    [
        item(&format!("PK=USER#{user} SK=ORDER#o type=Order {shared}")),
        item(&format!("PK=ORDER#o SK=ORDER type=OrderById {shared}")),
        item(&format!("PK=TOTAL#{total} SK={user}#o type=OrderByTotal {shared}")),
    ]
}

fn version(number: i64) -> Value {
    item(&format!("PK=DOC#d SK=V#{number:08} type=Version docId=d version={number} content=c{number}"))
}

fn latest(number: i64) -> Value {
    item(&format!("PK=DOC#d SK=LATEST type=Latest docId=d version={number} content=c{number}"))
}

fn put(item: &Value) -> Value {
    json!({ "Put": { "TableName": "Mixed", "Item": item } })
}

fn delete(item: &Value) -> Value {
    json!({ "Delete": { "TableName": "Mixed", "Key": key(item) } })
}

fn check(item: &Value, exists: bool) -> Value {
    let condition = if exists { "attribute_exists(PK)" } else { "attribute_not_exists(PK)" };
    json!({ "ConditionCheck": { "TableName": "Mixed", "Key": key(item), "ConditionExpression": condition } })
}

fn transaction(actions: Vec<Value>) -> Request {
    ("TransactWriteItems", json!({ "TransactItems": actions }))
}

fn update(item: &Value, expression: &str, values: Value) -> Request {
    let values = if values.as_object().is_some_and(Map::is_empty) { Value::Null } else { values };
    let mut request = json!({ "TableName": "Mixed", "Key": key(item), "UpdateExpression": expression });
    request["ExpressionAttributeNames"] = json!({ "#status": "status" });
    if !expression.contains("#status") {
        request
            .as_object_mut()
            .into_iter()
            .for_each(|request| drop(request.remove("ExpressionAttributeNames")));
    }
    if !values.is_null() {
        request["ExpressionAttributeValues"] = values;
    }
    ("UpdateItem", request)
}

/// What is stored, to choose requests that fit it.
struct Stored<'a>(&'a [Value]);

impl Stored<'_> {
    fn find(&self, wanted: &Value) -> Option<&Value> {
        self.0.iter().find(|item| key(item) == key(wanted))
    }

    fn number(&self, wanted: &Value, name: &str) -> Option<i64> {
        self.find(wanted)?[name]["N"].as_str()?.parse().ok()
    }
}

/// A request that keeps all rules.
pub fn well_formed(random: &mut Random, model: &Model, items: &[Value]) -> Request {
    let stored = Stored(items);
    if model.entity("Post").is_some() && random.below(2) == 0 {
        return companions::well_formed(random, &stored);
    }
    if model.entity("Board").is_some() && random.below(3) == 0 {
        return boards::well_formed(random, &stored);
    }
    match random.below(4) {
        0 => well_formed_user(random, model, &stored),
        1 => well_formed_task(random, &stored),
        2 if model.entity("Version").is_some() => well_formed_version(random, &stored),
        _ => well_formed_order(random, model, &stored),
    }
}

fn well_formed_user(random: &mut Random, model: &Model, stored: &Stored<'_>) -> Request {
    let id = random.pick(&["u", "v"]);
    let has_email =
        |email: &str| stored.0.iter().any(|item| item["type"]["S"] == "User" && item["email"]["S"] == email);
    let free = ["a@b", "c@d", "e@f"].into_iter().find(|email| !has_email(email)).unwrap_or("g@h");
    let is_unique = model.entity("User").is_some_and(|user| !user.unique.is_empty());
    let with = |own: Value, markers: Vec<Value>| {
        transaction([vec![own], if is_unique { markers } else { Vec::new() }].concat())
    };
    let Some(old) = stored.find(&user(id, free)) else {
        return with(put(&user(id, free)), vec![put(&marker(free))]);
    };
    let email = old["email"]["S"].as_str().unwrap_or_default();
    match random.below(3) {
        0 => with(delete(old), vec![delete(&marker(email))]),
        1 => with(put(&user(id, free)), vec![delete(&marker(email)), put(&marker(free))]),
        _ => update(old, "SET nickname = :n", json!({ ":n": { "S": random.pick(&["x", "y"]) } })),
    }
}

fn well_formed_task(random: &mut Random, stored: &Stored<'_>) -> Request {
    let (id, place) = TASKS[random.below(TASKS.len())];
    let old = task((id, place), "OPEN", 1);
    let Some(revision) = stored.number(&old, "revision") else {
        return ("PutItem", json!({ "TableName": "Mixed", "Item": old }));
    };
    let next = json!({ "N": (revision + 1).to_string() });
    match random.below(4) {
        0 => ("DeleteItem", json!({ "TableName": "Mixed", "Key": key(&old) })),
        1 => update(
            &old,
            "SET #status = :s, revision = :r REMOVE GSI1PK, GSI1SK",
            json!({ ":s": { "S": "DONE" }, ":r": next }),
        ),
        2 => update(
            &old,
            "SET #status = :s, revision = :r, GSI1PK = :p, GSI1SK = :t",
            json!({ ":s": { "S": "OPEN" }, ":r": next, ":p": { "S": place }, ":t": { "S": id } }),
        ),
        _ => update(&old, "SET due = :d, revision = :r", json!({ ":d": { "S": "soon" }, ":r": next })),
    }
}

fn well_formed_order(random: &mut Random, model: &Model, stored: &Stored<'_>) -> Request {
    let declared = |items: [Value; 3]| -> Vec<Value> {
        let known =
            |item: &Value| item["type"]["S"].as_str().is_some_and(|name| model.entity(name).is_some());
        items.into_iter().filter(known).collect()
    };
    let owner = ["u", "w"].into_iter().find(|owner| stored.find(&order(owner, 0)[0]).is_some());
    let total = random.below(9) as i64;
    let Some(owner) = owner else {
        return transaction(declared(order(random.pick(&["u", "w"]), total)).iter().map(put).collect());
    };
    let old = order(owner, stored.number(&order(owner, 0)[0], "total").unwrap_or_default());
    match random.below(3) {
        0 => transaction(declared(old).iter().map(delete).collect()),
        1 => update(&old[0], "SET note = :n", json!({ ":n": { "S": random.pick(&["x", "y"]) } })),
        _ => {
            // The copy whose key contains the total moves.
            let new = declared(order(owner, total));
            let gone = declared(old).into_iter().filter(|old| new.iter().all(|new| key(new) != key(old)));
            let deletions: Vec<Value> = gone.map(|old| delete(&old)).collect();
            transaction(new.iter().map(put).chain(deletions).collect())
        }
    }
}

fn well_formed_version(random: &mut Random, stored: &Stored<'_>) -> Request {
    let newest = stored.number(&latest(0), "version").unwrap_or(0);
    let oldest = (1..=newest).find(|number| stored.find(&version(*number)).is_some()).unwrap_or(0);
    match random.below(3) {
        0 if oldest > 0 && oldest < newest => transaction(vec![
            delete(&version(oldest)),
            check(&version(oldest - 1), false),
            check(&latest(0), true),
        ]),
        0 if oldest > 0 => transaction(vec![
            delete(&version(newest)),
            check(&version(newest - 1), false),
            delete(&latest(0)),
        ]),
        1 if oldest > 0 && oldest < newest => {
            // What is there may have been edited, so it is copied as it is.
            let mut copy = stored.find(&version(newest - 1)).cloned().unwrap_or_default();
            copy["SK"] = json!({ "S": "LATEST" });
            copy["type"] = json!({ "S": "Latest" });
            transaction(vec![delete(&version(newest)), check(&version(newest - 1), true), put(&copy)])
        }
        _ => transaction(vec![put(&version(newest + 1)), put(&latest(newest + 1))]),
    }
}

/// A request that keeps some rule only by chance.
pub fn noise(random: &mut Random) -> Request {
    match random.below(9) {
        0 => ("PutItem", json!({ "TableName": "Mixed", "Item": some_item(random) })),
        1 | 2 => ("UpdateItem", some_update(random)),
        3 => ("DeleteItem", json!({ "TableName": "Mixed", "Key": key(&valid_item(random)) })),
        4 => {
            let writes = distinct(random, |random| match random.below(3) {
                0 => (valid_item(random), true),
                _ => (some_item(random), false),
            });
            let writes = writes.into_iter().map(|(item, is_deleted)| match is_deleted {
                true => json!({ "DeleteRequest": { "Key": key(&item) } }),
                false => json!({ "PutRequest": { "Item": item } }),
            });
            ("BatchWriteItem", json!({ "RequestItems": { "Mixed": writes.collect::<Vec<_>>() } }))
        }
        5 => ("ExecuteStatement", json!({ "Statement": some_statement(random) })),
        6 => {
            let statements: Vec<Value> =
                (0..=random.below(2)).map(|_| json!({ "Statement": some_statement(random) })).collect();
            let (operation, member) =
                [("ExecuteTransaction", "TransactStatements"), ("BatchExecuteStatement", "Statements")]
                    [random.below(2)];
            (operation, json!({ member: statements }))
        }
        _ => {
            let items = distinct(random, |random| (some_item(random), false));
            let actions = items.into_iter().map(|(item, _)| some_action(random, &item)).collect();
            transaction(actions)
        }
    }
}

fn some_action(random: &mut Random, item: &Value) -> Value {
    match random.below(8) {
        0 => delete(item),
        1 => check(item, true),
        2 => check(item, false),
        3 => {
            let mut update = some_update(random);
            update["Key"] = key(item);
            json!({ "Update": update })
        }
        _ => put(item),
    }
}

/// Up to six items with different keys.
fn distinct(random: &mut Random, mut make: impl FnMut(&mut Random) -> (Value, bool)) -> Vec<(Value, bool)> {
    let made: BTreeMap<String, (Value, bool)> = (0..=random.below(6))
        .map(|_| make(random))
        .map(|(item, flag)| (key(&item).to_string(), (item, flag)))
        .collect();
    made.into_values().collect()
}

/// An item that is right in itself.
fn valid_item(random: &mut Random) -> Value {
    if random.below(3) == 0 {
        return companions::valid_item(random);
    }
    if random.below(4) == 0 {
        return boards::valid_item(random);
    }
    let number = random.below(4) as i64;
    let email = random.pick(&["a@b", "c@d"]);
    match random.below(9) {
        0 | 1 => user(random.pick(&["u", "v"]), email),
        2 => marker(email),
        3 => task(TASKS[random.below(TASKS.len())], random.pick(&["OPEN", "DONE"]), number),
        4 | 5 => order(random.pick(&["u", "w"]), number / 2)[random.below(3)].clone(),
        6 => latest(number),
        _ => version(number),
    }
}

/// A valid item, or one that is changed a little.
fn some_item(random: &mut Random) -> Value {
    let mut item = valid_item(random);
    if random.below(3) > 0 {
        return item;
    }
    let (name, value) = some_attribute(random);
    let Some(attributes) = item.as_object_mut() else { return item };
    match random.below(2) {
        0 if name != "PK" && name != "SK" => drop(attributes.remove(name)),
        _ => drop(attributes.insert(name.to_owned(), value)),
    }
    item
}

fn some_attribute(random: &mut Random) -> (&'static str, Value) {
    let names = [
        "type", "email", "status", "revision", "total", "GSI1PK", "GSI1SK", "note", "version", "content",
        "userId", "orderId", "name", "docId", "comments", "score", "best", "points", "state", "slug",
        "cards", "weight", "urgent", "top", "boardId", "tags",
    ];
    let name = random.pick(&names);
    let text = random.pick(&[
        "User",
        "Order",
        "OrderById",
        "a@b",
        "c@d",
        "OPEN",
        "DONE",
        "STATUS#OPEN#00",
        "STATUS#OPEN#03",
        "STATUS#DONE#00",
        "t",
        "u",
        "v",
        "o",
        "c1",
        "c2",
        "d",
        "OK",
        "BAD",
    ]);
    let numbers = [
        "revision", "total", "version", "comments", "score", "best", "points", "cards", "weight", "urgent",
        "top",
    ];
    let is_number = numbers.contains(&name) != (random.below(6) == 0);
    let value = if is_number { json!({ "N": random.below(4).to_string() }) } else { json!({ "S": text }) };
    (name, value)
}

fn some_update(random: &mut Random) -> Value {
    let item = valid_item(random);
    let (first, value) = some_attribute(random);
    let (second, other) = some_attribute(random);
    let names = json!({ "#a": first, "#b": second });
    let (expression, values) = match random.below(4) {
        0 => ("REMOVE #a, #b", None),
        1 => ("SET #a = :a REMOVE #b", Some(json!({ ":a": value }))),
        2 => ("ADD #a :a REMOVE #b", Some(json!({ ":a": { "N": "1" } }))),
        _ => ("SET #a = :a, #b = :b", Some(json!({ ":a": value, ":b": other }))),
    };
    let mut request = json!({
        "TableName": "Mixed", "Key": key(&item), "UpdateExpression": expression, "ExpressionAttributeNames": names,
    });
    if let Some(values) = values {
        request["ExpressionAttributeValues"] = values;
    }
    request
}

fn some_statement(random: &mut Random) -> String {
    let literal = |value: &Value| match (&value["S"], &value["N"]) {
        (Value::String(text), _) => format!("'{text}'"),
        (_, Value::String(text)) => text.clone(),
        _ => "NULL".to_owned(),
    };
    let item = some_item(random);
    let place = format!("WHERE PK = {} AND SK = {}", literal(&item["PK"]), literal(&item["SK"]));
    let (name, value) = some_attribute(random);
    match random.below(4) {
        0 => format!(r#"DELETE FROM "Mixed" {place}"#),
        1 => format!(r#"UPDATE "Mixed" REMOVE "{name}" {place}"#),
        2 => format!(r#"UPDATE "Mixed" SET "{name}" = {} {place}"#, literal(&value)),
        _ => {
            let pairs = item.as_object().into_iter().flatten();
            let pairs: Vec<String> =
                pairs.map(|(name, value)| format!("'{name}': {}", literal(value))).collect();
            format!(r#"INSERT INTO "Mixed" VALUE {{{}}}"#, pairs.join(", "))
        }
    }
}
