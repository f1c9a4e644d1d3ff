//! Items in DynamoDB JSON.
//!
//! Values keep their text as it is, so that an item that is read and written again does not change.

use crate::item::{Item, Value};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// How deep plain JSON may be nested, as DynamoDB's documents.
const MAX_DEPTH: usize = 32;

/// Reads an item of sample data, whose maps and lists may contain plain JSON.
pub fn decode_sample(item: &Json) -> Option<Item> {
    let value = |value: &Json| match value.as_object().and_then(|members| members.iter().next()) {
        Some((kind, content)) if ["M", "L"].contains(&kind.as_str()) => {
            value_of(value).or_else(|| Some(plain_value(content)))
        }
        _ => value_of(value),
    };
    item.as_object()?.iter().map(|(name, own)| Some((name.clone(), value(own)?))).collect()
}

/// Reads an item of plain JSON, as document clients have it; `None` if any of its values names a type.
pub fn decode_plain(item: &Json) -> Option<Item> {
    let is_typed = |value: &Json| value.is_object() && value_of(value).is_some();
    let members = item.as_object().filter(|members| !members.values().any(is_typed))?;
    Some(members.iter().map(|(name, value)| (name.clone(), plain_value(value))).collect())
}

/// The value of plain JSON.
pub fn plain_value(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(plain_value).collect()),
        Json::Object(members) => {
            Value::Map(members.iter().map(|(name, value)| (name.clone(), plain_value(value))).collect())
        }
    }
}

/// The value of a text of plain JSON, whose numbers keep all their digits.
pub fn plain_json(text: &str) -> Option<Value> {
    exact_value(serde_json::from_str(text).ok()?, MAX_DEPTH)
}

fn exact_value(raw: &RawValue, depth: usize) -> Option<Value> {
    let (text, depth) = (raw.get(), depth.checked_sub(1)?);
    Some(match text.as_bytes().first()? {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let member = |(name, value)| Some((name, exact_value(value, depth)?));
            Value::Map(members.into_iter().map(member).collect::<Option<_>>()?)
        }
        b'[' => {
            let values: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            Value::List(values.into_iter().map(|value| exact_value(value, depth)).collect::<Option<_>>()?)
        }
        b'-' | b'0'..=b'9' => Value::Number(text.to_owned()),
        _ => plain_value(&serde_json::from_str(text).ok()?),
    })
}

/// Reads an item in DynamoDB JSON.
pub fn decode(item: &Json) -> Option<Item> {
    item.as_object()?.iter().map(|(name, value)| Some((name.clone(), value_of(value)?))).collect()
}

fn value_of(value: &Json) -> Option<Value> {
    let mut members = value.as_object()?.iter();
    let (kind, content) = members.next().filter(|_| members.next().is_none())?;
    let text = || content.as_str().map(str::to_owned);
    let texts = || -> Option<Vec<String>> {
        content.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    Some(match kind.as_str() {
        "S" => Value::String(text()?),
        "N" => Value::Number(text()?),
        "B" => Value::Binary(text()?),
        "BOOL" => Value::Bool(content.as_bool()?),
        "NULL" => Value::Null,
        "L" => Value::List(content.as_array()?.iter().map(value_of).collect::<Option<_>>()?),
        "M" => Value::Map(decode(content)?),
        "SS" => Value::StringSet(texts()?),
        "NS" => Value::NumberSet(texts()?),
        "BS" => Value::BinarySet(texts()?),
        _ => return None,
    })
}

/// Writes an item in DynamoDB JSON.
pub fn encode(item: &Item) -> Map<String, Json> {
    item.iter().map(|(name, value)| (name.clone(), encode_value(value))).collect()
}

/// Writes a value.
pub fn encode_value(value: &Value) -> Json {
    match value {
        Value::String(text) => json!({ "S": text }),
        Value::Number(text) => json!({ "N": text }),
        Value::Binary(text) => json!({ "B": text }),
        Value::Bool(flag) => json!({ "BOOL": flag }),
        Value::Null => json!({ "NULL": true }),
        Value::List(values) => json!({ "L": values.iter().map(encode_value).collect::<Vec<_>>() }),
        Value::Map(values) => json!({ "M": encode(values) }),
        Value::StringSet(texts) => json!({ "SS": texts }),
        Value::NumberSet(texts) => json!({ "NS": texts }),
        Value::BinarySet(texts) => json!({ "BS": texts }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_is_read_and_written_again_does_not_change() {
        let item = json!({
            "S": { "S": "text" }, "N": { "N": "7.50" }, "B": { "B": "AAEC" }, "flag": { "BOOL": false }, "none": { "NULL": true },
            "list": { "L": [{ "N": "1" }, { "L": [] }] }, "map": { "M": { "inner": { "S": "x" } } },
            "SS": { "SS": ["b", "a"] }, "NS": { "NS": ["2", "1.0"] }, "BS": { "BS": ["AA=="] },
        });
        assert_eq!(Json::Object(encode(&decode(&item).unwrap())), item);
    }

    #[test]
    fn a_value_without_exactly_one_known_type_is_rejected() {
        for value in
            [json!("text"), json!({}), json!({ "S": "a", "N": "1" }), json!({ "X": "a" }), json!({ "S": 1 })]
        {
            assert_eq!(decode(&json!({ "PK": value })), None, "{value}");
        }
    }
}
