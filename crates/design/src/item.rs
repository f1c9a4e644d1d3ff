//! Items as typed values: what generation produces, and what inference, migration and table audits read.
//!
//! Values keep the text they came with. How they are written in a request or a file is the caller's business.

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
    /// Returns the text of a string or a number.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a string, a number or a boolean.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Value::Bool(flag) => Some(flag.to_string()),
            _ => self.as_text().map(str::to_owned),
        }
    }

    /// Returns the approximate size in bytes: the text, plus a few bytes for each element of a collection.
    pub fn size(&self) -> usize {
        let total = |sizes: &mut dyn Iterator<Item = usize>| sizes.sum::<usize>().saturating_sub(1);
        match self {
            Value::String(text) | Value::Number(text) | Value::Binary(text) => text.len(),
            Value::Bool(flag) => flag.to_string().len() + 1,
            Value::Null => 5,
            Value::List(values) => total(&mut values.iter().map(|value| value.size() + 9)),
            Value::Map(values) => {
                total(&mut values.iter().map(|(name, value)| name.len() + value.size() + 12))
            }
            Value::StringSet(texts) | Value::NumberSet(texts) | Value::BinarySet(texts) => {
                texts.iter().map(|text| text.len() + 3).sum()
            }
        }
    }
}

/// Returns the approximate size of an item in bytes.
pub fn item_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value.size()).sum()
}

/// Returns the attributes of an item as text.
pub fn attributes(item: &Item) -> Attributes {
    item.iter().map(|(name, value)| (name.clone(), value.to_text().unwrap_or_default())).collect()
}
