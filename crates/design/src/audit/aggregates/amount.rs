//! A value that an aggregate summarises, or that it has.

use crate::generate::typed_value;
use crate::item::{Attributes, Item, Value};
use crate::model::Entity;
use crate::model::decimal::Decimal;
use std::fmt;

/// A number or a text. All numbers come before all texts, so that the order of mixed values is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    /// A number.
    Number(Decimal),
    /// A text.
    Text(String),
}

impl Amount {
    /// Returns the amount of an attribute; `values` also has those that only the key of the item contains. What has no text, such as null,
    /// is none.
    pub fn of(entity: &Entity, item: &Item, values: &Attributes, name: &str) -> Option<Amount> {
        if let Some(value) = item.get(name) {
            return Amount::of_value(value);
        }
        let text = values.get(name)?;
        let kind = &entity.attribute(name)?.kind;
        Amount::of_value(&typed_value(kind, text))
    }

    fn of_value(value: &Value) -> Option<Amount> {
        match value {
            Value::Number(text) => Decimal::parse(text).map(Amount::Number),
            _ => value.to_text().map(Amount::Text),
        }
    }

    /// Returns the number; texts have none.
    pub fn number(&self) -> Option<&Decimal> {
        match self {
            Amount::Number(number) => Some(number),
            Amount::Text(_) => None,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Number(number) => write!(out, "{number}"),
            Amount::Text(text) => write!(out, "{text}"),
        }
    }
}
