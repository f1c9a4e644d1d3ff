//! Items as typed values: what generation produces, and what inference, migration and table audits read.
//!
//! Values keep the text they came with; as text, a number has one spelling. How they are written in a request or a file is the caller's business.

use crate::model::decimal::number_text;
use std::collections::BTreeMap;

/// An item: its attributes by name.
pub type Item = BTreeMap<String, Value>;

/// The attributes of an item as text; an attribute whose value has no plain text maps to an empty string.
pub type Attributes = BTreeMap<String, String>;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    String(String),
    /// A number, as decimal text.
    Number(String),
    /// Bytes, as Base64 text.
    Binary(String),
    /// A boolean.
    Bool(bool),
    /// The null value.
    Null,
    /// A list.
    List(Vec<Value>),
    /// A nested map.
    Map(BTreeMap<String, Value>),
    /// A set of strings.
    StringSet(Vec<String>),
    /// A set of numbers, as decimal text.
    NumberSet(Vec<String>),
    /// A set of byte strings, as Base64 text.
    BinarySet(Vec<String>),
}

impl Value {
    /// Returns the text of a string or a number, as it is written.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a string, a number or a boolean. A number has one text, however it is written.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Value::Number(text) => Some(number_text(text)),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => self.as_text().map(str::to_owned),
        }
    }

    /// Returns the size in bytes, as DynamoDB counts it.
    pub fn size(&self) -> usize {
        match self {
            Value::String(text) => text.len(),
            Value::Number(text) => number_size(text),
            Value::Binary(text) => binary_size(text),
            Value::Bool(_) | Value::Null => 1,
            Value::List(values) => {
                CONTAINER + values.iter().map(|value| ELEMENT + value.size()).sum::<usize>()
            }
            Value::Map(values) => {
                CONTAINER
                    + values.iter().map(|(name, value)| ELEMENT + name.len() + value.size()).sum::<usize>()
            }
            Value::StringSet(texts) => texts.iter().map(String::len).sum(),
            Value::NumberSet(texts) => texts.iter().map(|text| number_size(text)).sum(),
            Value::BinarySet(texts) => texts.iter().map(|text| binary_size(text)).sum(),
        }
    }
}

/// Overhead of a list or map.
const CONTAINER: usize = 3;
/// Overhead of each element of a list or map.
const ELEMENT: usize = 1;

/// One byte, half a byte for each significant digit on each side of the point (rounded up), and one for a minus sign.
fn number_size(text: &str) -> usize {
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let (whole, fraction) = match (whole.is_empty(), fraction.is_empty()) {
        (true, _) => ("", fraction.trim_start_matches('0')),
        (false, true) => (whole.trim_end_matches('0'), ""),
        (false, false) => (whole, fraction),
    };
    1 + whole.len().div_ceil(2) + fraction.len().div_ceil(2) + usize::from(text.starts_with('-'))
}

/// The bytes of a Base64 text.
fn binary_size(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// Returns the size of an item in bytes, as DynamoDB counts it: names and values.
pub fn item_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value.size()).sum()
}

/// Returns the attributes of an item as text.
pub fn attributes(item: &Item) -> Attributes {
    item.iter().map(|(name, value)| (name.clone(), value.to_text().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_database() {
        for (text, size) in
            [("0", 1), ("1", 2), ("123", 3), ("-123", 4), ("100", 2), ("0.001", 2), ("12.34", 3)]
        {
            assert_eq!(Value::Number(text.to_owned()).size(), size, "{text}");
        }
        let list = Value::List(vec![Value::String("ab".to_owned()), Value::Null]);
        assert_eq!(list.size(), 3 + 1 + 2 + 1 + 1);
        assert_eq!(Value::Binary("AAEC".to_owned()).size(), 3);
        assert_eq!(item_size(&[("flag".to_owned(), Value::Bool(true))].into()), 5);
    }
}
