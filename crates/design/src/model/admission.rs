//! Whether an attribute may have a value: its type in the table, its choices, its form, and its limits.

use super::Attribute;
use super::decimal::Decimal;
use super::limits::Zone;
use super::text_form::{TimeForm, is_date, is_ksuid, is_ulid, is_uuid, time_form};
use super::value_type::ValueType;
use crate::finding::closest;
use crate::item::Value;
use crate::plan::bounds::LAST;

/// The longest part of a value that a message shows.
const MAX_SHOWN: usize = 60;

impl Attribute {
    /// Checks a value against the type; identifiers do not contain the delimiter of keys.
    ///
    /// # Errors
    ///
    /// Returns what is wrong: `total is -5, below its least value, 0`.
    pub fn admits(&self, value: &Value, delimiter: char) -> Result<(), String> {
        self.problem(value, delimiter)
            .map_or(Ok(()), |problem| Err(format!("{} is {}, {problem}", self.name, shown(value))))
    }

    /// Returns whether it has no value that another attribute of this name does not admit, and lacks none that the other requires.
    pub fn is_within(&self, other: &Attribute) -> bool {
        self.kind.is_within(&other.kind)
            && (other.optional || !self.optional)
            && self.limits.are_within(&other.limits)
    }

    fn problem(&self, value: &Value, delimiter: char) -> Option<String> {
        match (&self.kind, value) {
            (ValueType::Int | ValueType::Decimal, Value::Number(text)) => self.number_problem(text),
            (kind, Value::String(text)) if kind.is_text() => self.text_problem(text, delimiter),
            (ValueType::Bool, Value::Bool(_))
            | (ValueType::Binary, Value::Binary(_))
            | (ValueType::List, Value::List(_))
            | (ValueType::Map, Value::Map(_))
            | (ValueType::Set, Value::StringSet(_) | Value::NumberSet(_) | Value::BinarySet(_)) => None,
            (_, Value::Null) if self.optional => None,
            (ValueType::Choice(_), Value::Number(_)) => Some("a number, and choices are strings".to_owned()),
            (kind, _) => Some(format!("not {}", kind.described())),
        }
    }

    fn number_problem(&self, text: &str) -> Option<String> {
        let Some(number) = Decimal::parse(text) else { return Some("not a number".to_owned()) };
        if !number.is_storable() {
            return Some(
                "a number that no table can store: it has more than 38 digits, or is too large or small"
                    .to_owned(),
            );
        }
        if self.kind == ValueType::Int && !number.is_whole() {
            return Some("not a whole number".to_owned());
        }
        let below = self.limits.min.as_ref().filter(|min| number < **min);
        let above = self.limits.max.as_ref().filter(|max| number > **max);
        below
            .map(|min| format!("below its least value, {min}"))
            .or_else(|| above.map(|max| format!("above its greatest value, {max}")))
    }

    fn text_problem(&self, text: &str, delimiter: char) -> Option<String> {
        let unless = |fits: bool, what: &str| (!fits).then(|| format!("not {what}"));
        match &self.kind {
            ValueType::Id | ValueType::String if text.contains(LAST) => {
                Some("and no text contains U+10FFFF: it ends the ranges of keys".to_owned())
            }
            ValueType::Id => text
                .contains(delimiter)
                .then(|| format!("and an identifier does not contain the delimiter {delimiter}")),
            ValueType::Choice(choices) => (!choices.has(text)).then(|| {
                let meant = closest(text, choices.iter().map(String::as_str));
                let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                format!("none of {}{meant}", choices.named())
            }),
            ValueType::Date => unless(is_date(text), "a date such as 2026-04-05"),
            ValueType::Ulid => unless(is_ulid(text), "a ULID: 26 digits of Crockford's base 32"),
            ValueType::Uuid => unless(is_uuid(text), "a UUID"),
            ValueType::Ksuid => unless(is_ksuid(text), "a KSUID: 27 digits of base 62"),
            ValueType::Timestamp => match time_form(text) {
                None => Some("not a time in UTC such as 2026-04-05T10:30:00Z".to_owned()),
                Some(form) => self.time_problem(form),
            },
            _ => None,
        }
    }

    fn time_problem(&self, form: TimeForm) -> Option<String> {
        if form.zone == Zone::Offset && self.limits.zone == Zone::Utc {
            return Some(
                "with an offset: write it in UTC, ending in Z, or declare zone = \"offset\"".to_owned(),
            );
        }
        let wanted = self.limits.precision.filter(|wanted| form.precision != Some(*wanted));
        wanted.map(|wanted| format!("not of the declared precision, {}", wanted.name()))
    }
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => match text.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("'{}…'", &text[..end]),
            None => format!("'{text}'"),
        },
        Value::Number(text) => text.chars().take(MAX_SHOWN).collect(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "null".to_owned(),
        Value::Binary(_) => "binary".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
        Value::StringSet(_) | Value::NumberSet(_) | Value::BinarySet(_) => "a set".to_owned(),
    }
}
