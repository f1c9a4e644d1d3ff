//! Shorthand for values, items and requests.
#![allow(dead_code)]

use partita_expression::{
    Condition, ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Update, Usage,
};
use partita_value::{AttributeValue, Item, Number, Value};

pub fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub fn n(text: &str) -> AttributeValue {
    AttributeValue::N(Number::parse(text).unwrap())
}

pub fn b(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(bytes.to_vec())
}

pub fn ss(elements: &[&str]) -> AttributeValue {
    AttributeValue::Ss(elements.iter().map(|element| element.to_string()).collect())
}

pub fn ns(elements: &[&str]) -> AttributeValue {
    AttributeValue::Ns(elements.iter().map(|element| Number::parse(element).unwrap()).collect())
}

pub fn bs(elements: &[&[u8]]) -> AttributeValue {
    AttributeValue::Bs(elements.iter().map(|element| element.to_vec()).collect())
}

pub fn l(elements: &[AttributeValue]) -> AttributeValue {
    AttributeValue::L(elements.to_vec())
}

pub fn m(entries: &[(&str, AttributeValue)]) -> AttributeValue {
    AttributeValue::M(entries.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

pub fn yes() -> AttributeValue {
    AttributeValue::Bool(true)
}

pub fn null() -> AttributeValue {
    AttributeValue::Null
}

/// One value of each type.
pub fn one_of_each() -> Vec<AttributeValue> {
    vec![
        s("a"),
        n("1"),
        b(b"a"),
        yes(),
        null(),
        ss(&["a"]),
        ns(&["1"]),
        bs(&[b"a"]),
        l(&[n("1")]),
        m(&[("a", n("1"))]),
    ]
}

pub fn item(attributes: &[(&str, AttributeValue)]) -> Item {
    attributes.iter().map(|(name, value)| (*name, value.clone())).collect()
}

pub fn names(entries: &[(&str, &str)]) -> ExpressionNames {
    let mut names = ExpressionNames::new();
    entries.iter().for_each(|(placeholder, name)| names.insert(placeholder, name));
    names
}

pub fn values(entries: &[(&str, AttributeValue)]) -> ExpressionValues {
    let mut values = ExpressionValues::new();
    entries.iter().for_each(|(placeholder, value)| values.insert(placeholder, Value::from(value)));
    values
}

pub fn filter(
    text: &str,
    name_entries: &[(&str, &str)],
    value_entries: &[(&str, AttributeValue)],
) -> Result<Condition, ExpressionError> {
    let (names, values) = (names(name_entries), values(value_entries));
    Condition::parse(ExpressionKind::Filter, text, &names, &values, &mut Usage::new())
}

pub fn update(
    text: &str,
    name_entries: &[(&str, &str)],
    value_entries: &[(&str, AttributeValue)],
) -> Result<Update, ExpressionError> {
    Update::parse(text, &names(name_entries), &values(value_entries), &mut Usage::new())
}
