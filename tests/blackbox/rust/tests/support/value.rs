//! JSON to attribute values and back: plain items as the examples store them, and DynamoDB JSON as their requests use it.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Value};

pub type Item = HashMap<String, AttributeValue>;

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected text, found {value}"))
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("expected a list, found {value}"))
}

pub fn map(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("expected a map, found {value}"))
}

pub fn texts(value: &Value) -> HashMap<String, String> {
    map(value).iter().map(|(name, value)| (name.clone(), text(value).to_owned())).collect()
}

pub fn from_plain_item(item: &Value) -> Item {
    map(item).iter().map(|(name, value)| (name.clone(), from_plain(value))).collect()
}

fn from_plain(value: &Value) -> AttributeValue {
    match value {
        Value::Null => AttributeValue::Null(true),
        Value::Bool(truth) => AttributeValue::Bool(*truth),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Array(values) => AttributeValue::L(values.iter().map(from_plain).collect()),
        Value::Object(_) => AttributeValue::M(from_plain_item(value)),
    }
}

pub fn to_plain_item(item: &Item) -> Value {
    item.iter().map(|(name, value)| (name.clone(), to_plain(value))).collect::<Map<_, _>>().into()
}

fn to_plain(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Null(_) => Value::Null,
        AttributeValue::Bool(truth) => (*truth).into(),
        AttributeValue::N(number) => serde_json::from_str(number).expect("a number"),
        AttributeValue::S(text) => text.clone().into(),
        AttributeValue::L(values) => values.iter().map(to_plain).collect(),
        AttributeValue::M(item) => to_plain_item(item),
        other => panic!("the examples have no {other:?}"),
    }
}

pub fn from_dynamodb_item(item: &Value) -> Item {
    map(item).iter().map(|(name, value)| (name.clone(), from_dynamodb(value))).collect()
}

fn from_dynamodb(value: &Value) -> AttributeValue {
    let (kind, value) = map(value).iter().next().expect("a value has a type");
    match kind.as_str() {
        "S" => AttributeValue::S(text(value).to_owned()),
        "N" => AttributeValue::N(text(value).to_owned()),
        "BOOL" => AttributeValue::Bool(value.as_bool().expect("a truth value")),
        "L" => AttributeValue::L(list(value).iter().map(from_dynamodb).collect()),
        "M" => AttributeValue::M(from_dynamodb_item(value)),
        other => panic!("the examples have no {other}"),
    }
}
