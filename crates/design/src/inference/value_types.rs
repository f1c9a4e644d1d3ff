//! The type of an attribute from its values.

use crate::item::Value;
use crate::model::value_type::ValueType;
use std::collections::BTreeSet;

/// The type that all values have; a string if they differ.
pub(super) fn value_type(values: &[&Value]) -> ValueType {
    let all = |test: fn(&Value) -> bool| values.iter().all(|value| test(value));
    let texts: Vec<&str> = values.iter().filter_map(|value| value.as_text()).collect();
    if all(|value| matches!(value, Value::Bool(_))) {
        ValueType::Bool
    } else if all(|value| matches!(value, Value::Number(_))) {
        let is_integer = texts.iter().all(|text| text.parse::<i64>().is_ok());
        if is_integer { ValueType::Int } else { ValueType::Decimal }
    } else if all(|value| matches!(value, Value::Binary(_))) {
        ValueType::Binary
    } else if all(|value| matches!(value, Value::List(_))) {
        ValueType::List
    } else if all(|value| matches!(value, Value::Map(_))) {
        ValueType::Map
    } else if is_set(values) {
        ValueType::Set
    } else if all(|value| matches!(value, Value::String(_))) {
        text_type(&texts)
    } else {
        ValueType::String
    }
}

fn is_set(values: &[&Value]) -> bool {
    let all = |test: fn(&Value) -> bool| values.iter().all(|value| test(value));
    all(|value| matches!(value, Value::StringSet(_)))
        || all(|value| matches!(value, Value::NumberSet(_)))
        || all(|value| matches!(value, Value::BinarySet(_)))
}

/// The type of strings, by their form.
pub(super) fn text_type(texts: &[&str]) -> ValueType {
    let all = |test: fn(&str) -> bool| texts.iter().all(|text| test(text));
    if all(is_date) {
        ValueType::Date
    } else if all(is_timestamp) {
        ValueType::Timestamp
    } else if all(is_ulid) {
        ValueType::Ulid
    } else if all(|text| text.len() == 36 && text.matches('-').count() == 4) {
        ValueType::Uuid
    } else if let Some(choice) = choice(texts) {
        choice
    } else if all(|text| !text.is_empty() && !text.contains(['#', ' ', '@']) && text.len() <= 40) {
        ValueType::Id
    } else {
        ValueType::String
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && text.chars().all(|character| character.is_ascii_digit() || character == '-')
}

fn is_timestamp(text: &str) -> bool {
    text.len() >= 16 && text.get(..10).is_some_and(is_date) && text.as_bytes()[10] == b'T'
}

fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text.chars().all(|character| character.is_ascii_uppercase() || character.is_ascii_digit())
}

/// A few short words that recur are an enumeration.
fn choice(texts: &[&str]) -> Option<ValueType> {
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    let is_word =
        |text: &&str| text.chars().all(|character| character.is_ascii_alphabetic() || character == '_');
    let recurs = texts.len() >= 8 && (2..=6).contains(&distinct.len()) && texts.len() >= distinct.len() * 4;
    (recurs && distinct.iter().all(is_word))
        .then(|| ValueType::Choice(distinct.into_iter().map(str::to_owned).collect()))
}
