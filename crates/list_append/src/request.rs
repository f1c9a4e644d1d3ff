//! Transactions as DynamoDB requests, and the content of their responses.

use crate::history::{Element, Key, Observation};
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

/// An append outside of a transaction, which returns the whole list.
pub fn update(key: Key, element: Element) -> String {
    let mut update = append(key, element);
    update["ReturnValues"] = json!("ALL_NEW");
    update.to_string()
}

/// Appends to some lists, if those of `expected` (the same or others) have the given lengths.
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
    let others = expected.iter().filter(|(key, _)| !appends.iter().any(|(other, _)| other == key));
    actions.extend(others.map(|(key, length)| {
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

/// The list in an item; empty if the item does not exist.
pub fn list(item: &Value) -> Vec<Element> {
    let element = |value: &Value| value["N"].as_str().and_then(|digits| digits.parse().ok());
    item["l"]["L"].as_array().map_or_else(Vec::new, |list| list.iter().filter_map(element).collect())
}

/// The lists in the response to `transact_get`.
pub fn lists(keys: &[Key], response: &Value) -> Vec<(Key, Observation)> {
    let observation = |(index, key): (usize, &Key)| {
        (*key, Observation::List(list(&response["Responses"][index]["Item"]).into()))
    };
    keys.iter().enumerate().map(observation).collect()
}
