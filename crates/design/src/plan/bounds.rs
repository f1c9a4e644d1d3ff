//! The texts between which a range of an attribute lies in a sort key.
//!
//! In a key, a value is usually followed by more: a delimiter, an identifier. A key with exactly the upper bound as its value sorts behind
//! the bound itself, so the upper text reaches past everything that may follow.

use super::{SortCondition, Step};
use crate::item::Attributes;
use crate::model::limits::End;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Model};
use crate::template::{Format, Part, Template};
use std::collections::BTreeMap;

/// The last character: no key contains it.
pub const LAST: char = '\u{10FFFF}';
/// The first character: no text is smaller, and a key is never empty.
const FIRST: char = '\0';
/// The largest number that a key can hold.
const GREATEST: &str = "9.9999999999999999999999999999999999999E+125";

/// Returns the two texts that bound the sort key of a step, both included, for a range between two values of its attribute, both included; `None` if
/// the step has no range, or a value does not fit the key. A bound that is missing is the end of what the values can start with.
pub fn range_texts(
    model: &Model,
    step: &Step<'_>,
    known: &Attributes,
    from: Option<&str>,
    to: Option<&str>,
) -> Option<(String, String)> {
    let SortCondition::Between { prefix, .. } = &step.sort else { return None };
    let start = prefix.attributes().pop().unwrap_or_default().fill(known).ok()?;
    let field = BoundedField::new(model, step)?;
    let lower = match from {
        Some(value) => field.lower(value)?,
        None if field.is_number => format!("-{GREATEST}"),
        None => match field.first_characters() {
            Some((first, _)) => first.to_string(),
            None => String::new(),
        },
    };
    let upper = match to {
        Some(value) => field.upper(value)?,
        None if field.is_number => GREATEST.to_owned(),
        None => {
            field.first_characters().map_or_else(|| LAST.to_string(), |(_, last)| format!("{last}{LAST}"))
        }
    };
    // DynamoDB refuses empty key values.
    let bound = |value: String| match format!("{start}{value}") {
        empty if empty.is_empty() => FIRST.to_string(),
        text => text,
    };
    Some((bound(lower), bound(upper)))
}

/// The attribute of a range as the sort key holds it.
pub struct BoundedField<'m> {
    attribute: &'m Attribute,
    /// The parts of the key attribute from its first occurrence on.
    parts: Vec<Part>,
    is_number: bool,
}

/// A value as a key holds it.
struct Written {
    text: String,
    /// The text up to the next value, if keys go on.
    next: Option<String>,
}

impl<'m> BoundedField<'m> {
    /// Finds the attribute of a step's range in its sort key.
    pub fn new(model: &Model, step: &Step<'m>) -> Option<BoundedField<'m>> {
        let SortCondition::Between { by, .. } = &step.sort else { return None };
        let is_number = step.location.key_is_number(model, step.clauses().len().checked_sub(1)?);
        step.targets.iter().find_map(|entity| {
            let attribute = entity.attribute(by)?;
            let keys = step.location.mapping(entity)?.sort?.attributes();
            let mut parts = keys.into_iter().find(|key| key.has_field(by))?.parts;
            let first =
                parts.iter().position(|part| matches!(part, Part::Field { name, .. } if name == by))?;
            parts.drain(..first);
            Some(BoundedField { attribute, parts, is_number })
        })
    }

    /// The smallest and the largest character that values start with in the key; `None` if they are free text.
    fn first_characters(&self) -> Option<(char, char)> {
        let types: BTreeMap<String, ValueType> =
            [(self.attribute.name.clone(), self.attribute.kind.clone())].into();
        Template { parts: self.parts.clone() }.first_characters(&types)
    }

    /// Returns the smallest text of a key that holds this value or a larger one, after the prefix; `None` if the value does not fit.
    pub fn lower(&self, value: &str) -> Option<String> {
        self.written(value, End::Lower).map(|written| written.text)
    }

    /// Returns a text behind all keys that hold this value or a smaller one and before all others; `None` if the value does not fit.
    pub fn upper(&self, value: &str) -> Option<String> {
        let Written { text, next } = self.written(value, End::Upper)?;
        Some(next.map_or(text.clone(), |next| format!("{text}{next}{LAST}")))
    }

    /// Returns the attribute with its format in the key: `n:04`.
    pub fn described(&self) -> String {
        let field = Template { parts: self.parts[..1].to_vec() }.to_string();
        field.trim_matches(['{', '}']).to_owned()
    }

    /// Returns whether keys go on after the value.
    pub fn is_followed(&self) -> bool {
        self.parts.len() > 1
    }

    /// Writes a value wherever the key holds it, until another value follows: `{at:month}#{at}#{id}` holds it twice.
    fn written(&self, value: &str, end: End) -> Option<Written> {
        let Attribute { name: own, kind, limits, .. } = self.attribute;
        // A time bounds dates as its day.
        let day = value.get(..10).filter(|_| *kind == ValueType::Date);
        let value = limits.bound(day.unwrap_or(value), end);
        let (mut text, mut between) = (String::new(), String::new());
        let mut parts = self.parts.iter();
        for part in &mut parts {
            match part {
                Part::Text(literal) => between.push_str(literal),
                Part::Field { name, format } if name == own => {
                    text.push_str(&std::mem::take(&mut between));
                    if time_length(kind, *format).is_some_and(|length| is_start_of_time(&value, length)) {
                        text.push_str(&value);
                        return Some(Written { text, next: Some(String::new()) });
                    }
                    text.push_str(&format.apply(&value)?);
                }
                Part::Field { .. } => return Some(Written { text, next: Some(between) }),
            }
        }
        Some(Written { text, next: (!between.is_empty()).then_some(between) })
    }
}

/// Returns the number of characters of a time in a key; a text with fewer of them is only its start.
pub fn time_length(kind: &ValueType, format: Format) -> Option<usize> {
    match (format, kind) {
        (Format::Bucket(length), _) => Some(length),
        (_, ValueType::Date) => Some("2026-04-05".len()),
        (_, ValueType::Timestamp) => Some("2026-04-05T10:30:00Z".len()),
        _ => None,
    }
}

/// Returns whether a text is a time without its end: a month, a day, a minute, seconds without their zone.
pub fn is_start_of_time(text: &str, length: usize) -> bool {
    let is_digit = |character: char| character.is_ascii_digit() || matches!(character, '-' | ':' | 'T');
    !text.is_empty() && text.len() < length && text.chars().all(is_digit)
}
