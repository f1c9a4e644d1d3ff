//! Random requests to a table without a sort key and without types: sessions whose key is an attribute, users that count them, and seats with
//! numbers in their keys.

use super::{Random, Request};
use serde_json::{Map, Value, json};

/// `zlib.crc32(token) % 3` in Python.
const TOKENS: [(&str, u64); 3] = [("s", 1), ("t", 2), ("UNIQUE#Session#email#a@b", 0)];

/// Gives an item, or a marker, a time at which it expires, or none.
fn expiring(random: &mut Random, mut item: Value) -> Value {
    if random.below(4) == 0 {
        item["until"] = json!({ "N": random.pick(&["7", "8"]) });
    }
    item
}

fn session(random: &mut Random) -> Value {
    let (token, shard) = TOKENS[random.below(TOKENS.len())];
    let mut item = expiring(random, json!({ "token": { "S": token } }));
    if random.below(2) == 0 {
        item["email"] = some(
            random,
            &[json!({ "S": "a@b" }), json!({ "S": "c@d" }), json!({ "S": "" }), json!({ "NULL": true })],
        );
    }
    if random.below(2) == 0 {
        item["userId"] = some(random, &[json!({ "S": "u" }), json!({ "NULL": true }), json!({ "S": "v" })]);
    }
    if random.below(2) == 0 {
        let due = random.pick(&["2026-04-05", "2026-05-01", "2026-02-30"]);
        let shard = if random.below(4) == 0 { random.below(4) as u64 } else { shard };
        item["due"] = json!({ "S": due });
        item["duePK"] = json!({ "S": format!("DUE#{}#{shard}", &due[..7]) });
        item["dueSK"] = json!({ "S": format!("{due}#{token}") });
    }
    item
}

fn user(random: &mut Random) -> Value {
    let mut item = json!({ "token": { "S": "USER#u" }, "userId": { "S": "u" } });
    if random.below(3) > 0 {
        item["sessions"] = json!({ "N": random.pick(&["0", "1", "1.0", "1e0", "2"]) });
        item["last"] = some(
            random,
            &[json!({ "S": "2026-04-05" }), json!({ "S": "2026-05-01" }), json!({ "NULL": true })],
        );
    }
    item
}

fn seat(random: &mut Random) -> Value {
    let number = random.pick(&["1", "1.0", "1e0", "01", "-1"]);
    let mut item = json!({
        "token": { "S": random.pick(&["SEAT#001#1", "SEAT#001#1.0", "SEAT#1#1", "SEAT#001#-1"]) }, "row": { "N": "1" },
        "number": { "N": number },
    });
    if random.below(2) == 0 {
        item["guest"] = some(
            random,
            &[json!({ "S": "g" }), json!({ "N": "7" }), json!({ "SS": ["g"] }), json!({ "B": "Zw==" })],
        );
    }
    item
}

fn marker(random: &mut Random) -> Value {
    let texts = [
        "UNIQUE#Session#email#a@b",
        "UNIQUE#Session#email#c@d",
        "UNIQUE#Session#email#",
        "UNIQUE#Seat#row,guest#1#g",
    ];
    let marker = json!({ "token": { "S": random.pick(&texts) } });
    expiring(random, marker)
}

fn some(random: &mut Random, values: &[Value]) -> Value {
    values[random.below(values.len())].clone()
}

fn item(random: &mut Random) -> Value {
    match random.below(6) {
        0 | 1 => session(random),
        2 | 3 => user(random),
        4 => seat(random),
        _ => marker(random),
    }
}

fn put(item: &Value) -> Value {
    json!({ "TableName": "Sessions", "Item": item })
}

fn keyed(item: &Value) -> Value {
    json!({ "TableName": "Sessions", "Key": { "token": item["token"] } })
}

fn update(random: &mut Random, item: &Value) -> Value {
    let other = [session(random), user(random), seat(random)][random.below(3)].clone();
    let no_attributes = Map::new();
    let attributes = other.as_object().unwrap_or(&no_attributes);
    let names: Vec<&String> = attributes.keys().filter(|name| *name != "token").collect();
    let mut request = keyed(item);
    let Some(name) = names.get(random.below(names.len().max(1))) else { return request };
    request["ExpressionAttributeNames"] = json!({ "#a": name });
    request["UpdateExpression"] = json!("REMOVE #a");
    if random.below(2) == 0 {
        request["UpdateExpression"] = json!("SET #a = :a");
        request["ExpressionAttributeValues"] = json!({ ":a": attributes[*name] });
    }
    request
}

/// A request that keeps some rule only by chance.
pub fn noise(random: &mut Random) -> Request {
    let made = item(random);
    match random.below(6) {
        0 => ("PutItem", put(&made)),
        1 => ("UpdateItem", update(random, &made)),
        2 => ("DeleteItem", keyed(&made)),
        _ => {
            let mut actions = Map::new();
            for _ in 0..=random.below(4) {
                let made = item(random);
                let action = match random.below(6) {
                    0 => json!({ "Delete": keyed(&made) }),
                    1 => json!({ "Update": update(random, &made) }),
                    _ => json!({ "Put": put(&made) }),
                };
                actions.insert(made["token"].to_string(), action);
            }
            let actions: Vec<Value> = actions.into_iter().map(|(_, action)| action).collect();
            ("TransactWriteItems", json!({ "TransactItems": actions }))
        }
    }
}
