//! Attribute types of a model: the characters of their text, whether it sorts as the values do, the number of values.

use super::choices::Choices;

/// The type of an attribute, as the model declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Any text.
    String,
    /// Text that never contains the delimiter; the writer guarantees it.
    Id,
    /// A whole number.
    Int,
    /// A number.
    Decimal,
    /// A boolean.
    Bool,
    /// Bytes.
    Binary,
    /// ISO 8601 in UTC: `2026-04-05T10:30:00Z`.
    Timestamp,
    /// `2026-04-05`.
    Date,
    /// A ULID.
    Ulid,
    /// A UUID.
    Uuid,
    /// A KSUID.
    Ksuid,
    /// One of several words: `PENDING|PAID`.
    Choice(Choices),
    /// A list.
    List,
    /// A map.
    Map,
    /// A set.
    Set,
}

const NAMES: [(&str, ValueType); 14] = [
    ("string", ValueType::String),
    ("id", ValueType::Id),
    ("int", ValueType::Int),
    ("decimal", ValueType::Decimal),
    ("bool", ValueType::Bool),
    ("binary", ValueType::Binary),
    ("timestamp", ValueType::Timestamp),
    ("date", ValueType::Date),
    ("ulid", ValueType::Ulid),
    ("uuid", ValueType::Uuid),
    ("ksuid", ValueType::Ksuid),
    ("list", ValueType::List),
    ("map", ValueType::Map),
    ("set", ValueType::Set),
];

impl ValueType {
    /// Parses a type as a model writes it.
    pub fn parse(text: &str) -> Option<ValueType> {
        if text.contains('|') {
            let choices: Vec<String> = text.split('|').map(|choice| choice.trim().to_owned()).collect();
            return choices
                .iter()
                .all(|choice| !choice.is_empty())
                .then(|| ValueType::Choice(choices.into()));
        }
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| kind.clone())
    }

    /// Returns the name of a type that other systems call differently.
    pub fn synonym(text: &str) -> Option<&'static str> {
        let known = [
            ("decimal", ["number", "float", "double", "money", "n"]),
            ("int", ["integer", "long", "counter", "u64", "epoch"]),
            ("bool", ["boolean", "flag", "b", "bit", "yesno"]),
            ("timestamp", ["datetime", "iso8601", "time", "instant", "iso"]),
            ("string", ["text", "str", "s", "varchar", "email"]),
            ("list", ["array", "l", "seq", "sequence", "tuple"]),
            ("map", ["object", "m", "json", "dict", "struct"]),
        ];
        let lower = text.to_lowercase();
        known.iter().find(|(_, others)| others.contains(&lower.as_str())).map(|(name, _)| *name)
    }

    /// Returns what choices were meant to be if they are the names of types, as in `string | null`: the types. `None` if they are words.
    pub fn meant_types(&self) -> Option<Vec<&str>> {
        let ValueType::Choice(choices) = self else { return None };
        let is_null = |choice: &&str| ["null", "nil", "undefined"].contains(choice);
        let (nulls, others): (Vec<&str>, Vec<&str>) = choices.iter().map(String::as_str).partition(is_null);
        let is_type = |choice: &&str| NAMES.iter().any(|(name, _)| name == choice);
        (!nulls.is_empty() || others.iter().all(is_type)).then_some(others)
    }

    /// Returns the names of all types but choices.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Returns the type as a model writes it.
    pub fn print(&self) -> String {
        if let ValueType::Choice(choices) = self {
            return choices.join("|");
        }
        let found = NAMES.iter().find(|(_, kind)| kind == self);
        found.map(|(name, _)| (*name).to_owned()).unwrap_or_default()
    }

    /// Returns whether values are numbers.
    pub fn is_number(&self) -> bool {
        matches!(self, ValueType::Int | ValueType::Decimal)
    }

    /// Returns whether a value can be one of both types.
    pub fn shares_values(&self, other: &ValueType) -> bool {
        let is_free = |kind: &ValueType| matches!(kind, ValueType::String | ValueType::Id);
        match (self, other) {
            (ValueType::Choice(own), ValueType::Choice(others)) => {
                own.iter().any(|choice| others.contains(choice))
            }
            (ValueType::Choice(_), own) | (own, ValueType::Choice(_)) => is_free(own),
            _ if self == other => true,
            _ if self.is_number() => other.is_number(),
            _ => (is_free(self) && other.is_text()) || (is_free(other) && self.is_text()),
        }
    }

    /// Returns whether every value is one of the other type too.
    pub fn is_within(&self, other: &ValueType) -> bool {
        match (self, other) {
            (ValueType::Choice(own), ValueType::Choice(others)) => {
                own.iter().all(|choice| others.has(choice))
            }
            (ValueType::Int, ValueType::Decimal) => true,
            (own, others) => own == others || (*others == ValueType::String && own.is_text()),
        }
    }

    /// Returns whether values are strings.
    pub fn is_text(&self) -> bool {
        self.is_scalar() && !self.is_number() && *self != ValueType::Bool
    }

    /// Returns the type in words: `a number`.
    pub fn described(&self) -> String {
        match self {
            ValueType::Choice(choices) => format!("one of {}", choices.named()),
            ValueType::Int => "a whole number".to_owned(),
            ValueType::Decimal => "a number".to_owned(),
            ValueType::Id | ValueType::String => "a string".to_owned(),
            other => format!("a {}", other.print()),
        }
    }

    /// Returns whether values are times or dates.
    pub fn is_time(&self) -> bool {
        matches!(self, ValueType::Timestamp | ValueType::Date)
    }

    /// Returns whether values can be part of a key.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, ValueType::List | ValueType::Map | ValueType::Set | ValueType::Binary)
    }

    /// Returns whether values are generated to be globally unique.
    pub fn is_globally_unique(&self) -> bool {
        matches!(self, ValueType::Ulid | ValueType::Uuid | ValueType::Ksuid)
    }

    /// Returns whether all values have the same length, so that none is a prefix of another.
    pub fn has_fixed_width(&self) -> bool {
        self.fixed_width().is_some()
    }

    /// Returns the number of characters of all values, if they have the same.
    pub fn fixed_width(&self) -> Option<usize> {
        match self {
            ValueType::Ulid => Some(26),
            ValueType::Uuid => Some(36),
            ValueType::Ksuid => Some(27),
            ValueType::Date => Some(10),
            _ => None,
        }
    }

    /// Returns texts between which all values sort, if the type has such: the least and the greatest, or all choices.
    pub fn outermost(&self) -> Vec<&str> {
        match self {
            ValueType::Choice(choices) => choices.iter().map(String::as_str).collect(),
            ValueType::Date => vec!["0000-01-01", "9999-12-31"],
            // Seconds sort before the zone.
            ValueType::Timestamp => vec!["0000-01-01T00:00", "9999-12-31T23:59Z"],
            ValueType::Ulid => vec!["00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"],
            ValueType::Uuid => {
                vec!["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether values sort as their text does.
    pub fn sorts_as_text(&self) -> bool {
        !self.is_number()
    }

    /// Returns the number of distinct values, if the type determines it.
    pub fn distinct(&self) -> Option<u64> {
        match self {
            ValueType::Bool => Some(2),
            ValueType::Choice(choices) => Some(choices.len() as u64),
            ValueType::Date => Some(365),
            _ => None,
        }
    }

    /// Returns whether the text of a value can contain `character`.
    pub fn may_contain(&self, character: char) -> bool {
        match self {
            // What an identifier does not contain, the delimiter, is the model's.
            ValueType::String
            | ValueType::Id
            | ValueType::Binary
            | ValueType::List
            | ValueType::Map
            | ValueType::Set => true,
            ValueType::Int => character.is_ascii_digit() || character == '-',
            ValueType::Decimal => {
                character.is_ascii_digit() || matches!(character, '-' | '.' | 'e' | 'E' | '+')
            }
            ValueType::Bool => "truefalse".contains(character),
            ValueType::Timestamp => {
                character.is_ascii_digit() || matches!(character, '-' | ':' | '.' | 'T' | 'Z' | '+')
            }
            ValueType::Date => character.is_ascii_digit() || character == '-',
            ValueType::Uuid => character.is_ascii_hexdigit() || character == '-',
            ValueType::Ulid | ValueType::Ksuid => character.is_ascii_alphanumeric(),
            ValueType::Choice(choices) => choices.may_contain(character),
        }
    }

    /// Returns the typical size of a value in bytes.
    pub fn typical_bytes(&self) -> u64 {
        match self {
            ValueType::Int | ValueType::Decimal => 6,
            ValueType::Bool => 1,
            ValueType::Timestamp => 20,
            ValueType::Date => 10,
            ValueType::Ulid => 26,
            ValueType::Uuid => 36,
            ValueType::Ksuid => 27,
            ValueType::Choice(choices) => {
                choices.iter().map(|choice| choice.len() as u64).max().unwrap_or_default()
            }
            ValueType::String => 24,
            ValueType::Id => 12,
            ValueType::Binary | ValueType::List | ValueType::Map | ValueType::Set => 100,
        }
    }
}
