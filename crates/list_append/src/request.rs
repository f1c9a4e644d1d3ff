//! Transactions as DynamoDB's requests, and what their answers say.

use crate::history::{Element, Key, Seen};
use serde_json::{Value, json};

pub const TABLE: &str = "Lists";
const APPEND: &str = "SET l = list_append(if_not_exists(l, :none), :e)";

pub fn create_table() -> String {
    json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})
    .to_string()
}

pub fn get(key: Key) -> String {
    json!({"TableName": TABLE, "Key": id(key), "ConsistentRead": true}).to_string()
}

pub fn transact_get(keys: &[Key]) -> String {
    let gets: Vec<Value> =
        keys.iter().map(|key| json!({"Get": {"TableName": TABLE, "Key": id(*key)}})).collect();
    json!({"TransactItems": gets}).to_string()
}

/// An append by itself, which answers with the whole list.
pub fn update(key: Key, element: Element) -> String {
    let mut update = append(key, element);
    update["ReturnValues"] = json!("ALL_NEW");
    update.to_string()
}

/// Appends to some lists, if those of `expected` (the same ones or others) have their lengths.
pub fn transact_write(token: &str, appends: &[(Key, Element)], expected: &[(Key, usize)]) -> String {
    let length = |key: Key| expected.iter().find(|(other, _)| *other == key).map(|(_, length)| *length);
    let mut actions: Vec<Value> = appends
        .iter()
        .map(|(key, element)| {
            let mut update = append(*key, *element);
            if let Some(length) = length(*key) {
                expect(&mut update, length);
            }
            json!({"Update": update})
        })
        .collect();
    let elsewhere = expected.iter().filter(|(key, _)| !appends.iter().any(|(other, _)| other == key));
    actions.extend(elsewhere.map(|(key, length)| {
        let mut check = json!({"TableName": TABLE, "Key": id(*key)});
        expect(&mut check, *length);
        json!({"ConditionCheck": check})
    }));
    json!({"ClientRequestToken": token, "TransactItems": actions}).to_string()
}

fn id(key: Key) -> Value {
    json!({"id": {"N": key.to_string()}})
}

fn append(key: Key, element: Element) -> Value {
    json!({"TableName": TABLE, "Key": id(key), "UpdateExpression": APPEND,
        "ExpressionAttributeValues": {":none": {"L": []}, ":e": {"L": [{"N": element.to_string()}]}}})
}

fn expect(action: &mut Value, length: usize) {
    if length == 0 {
        action["ConditionExpression"] = json!("attribute_not_exists(id)");
        return;
    }
    action["ConditionExpression"] = json!("size(l) = :length");
    action["ExpressionAttributeValues"][":length"] = json!({"N": length.to_string()});
}

/// The list of an item, which may not be there.
pub fn list(item: &Value) -> Vec<Element> {
    let element = |value: &Value| value["N"].as_str().and_then(|digits| digits.parse().ok());
    item["l"]["L"].as_array().map_or_else(Vec::new, |list| list.iter().filter_map(element).collect())
}

/// What the answer to `transact_get` says of its keys.
pub fn lists(keys: &[Key], answer: &Value) -> Vec<(Key, Seen)> {
    let seen =
        |(place, key): (usize, &Key)| (*key, Seen::List(list(&answer["Responses"][place]["Item"]).into()));
    keys.iter().enumerate().map(seen).collect()
}
