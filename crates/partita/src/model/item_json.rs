//! Items between DynamoDB JSON and the typed values of `design`.
//!
//! Values keep their text as it is, so that an item that is read and written again does not change.

use partita_design::item::{Item, Value};
use serde_json::{Map, Value as Json, json};

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
    item.iter().map(|(name, value)| (name.clone(), json_of(value))).collect()
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => json!({ "S": text }),
        Value::Number(text) => json!({ "N": text }),
        Value::Binary(text) => json!({ "B": text }),
        Value::Bool(flag) => json!({ "BOOL": flag }),
        Value::Null => json!({ "NULL": true }),
        Value::List(values) => json!({ "L": values.iter().map(json_of).collect::<Vec<_>>() }),
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
