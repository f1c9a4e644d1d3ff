//! The type of an attribute from its values. Values are counted one by one and not kept.

use crate::formatting::thousands;
use crate::item::Value;
use crate::model::limits::{Limits, Precision, Zone};
use crate::model::text_form::{is_date, is_ksuid, is_ulid, is_uuid, time_form};
use crate::model::value_type::ValueType;
use std::collections::{BTreeMap, BTreeSet};

/// What fewer values have in common may be an accident.
const MANY: u64 = 8;
/// More different values than this are not choices.
const MAX_CHOICES: usize = 8;
/// The seconds since 1970 of the years 2001 to 2100; a number outside is not a time.
const EPOCH_SECONDS: std::ops::Range<f64> = 1e9..4.2e9;

/// The length of an offset: `+00:00`.
const OFFSET_LENGTH: usize = 6;

/// What the values of an attribute have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// The number of values that are not null.
    pub count: u64,
    /// The number of nulls, which are as good as absent.
    pub nulls: u64,
    /// How many values are of each type.
    kinds: BTreeMap<&'static str, u64>,
    /// Whether a number is not whole.
    has_fraction: bool,
    /// The forms that all texts have.
    forms: Option<Vec<Form>>,
    /// The different texts, while there are few.
    distinct: BTreeSet<String>,
    has_many: bool,
    least: f64,
    greatest: f64,
    /// The precisions of times; `None` stands for unusual ones.
    precisions: BTreeSet<Option<Precision>>,
    /// The ends of times that are not in UTC, the first two.
    offsets: BTreeSet<String>,
    /// Whether a time is in UTC.
    has_utc: bool,
}

/// A form of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Date,
    Timestamp,
    Ulid,
    Uuid,
    Ksuid,
    Integer,
    Identifier,
}

impl Summary {
    /// Counts a value.
    pub fn add(&mut self, value: &Value) {
        if *value == Value::Null {
            self.nulls += 1;
            return;
        }
        *self.kinds.entry(kind_name(value)).or_default() += 1;
        self.has_fraction |= matches!(value, Value::Number(text) if text.parse::<i64>().is_err());
        if let Some(text) = value.as_text() {
            self.add_text(text);
        } else {
            self.count += 1;
        }
    }

    /// Counts a text.
    pub fn add_text(&mut self, text: &str) {
        let number = text.parse::<f64>().unwrap_or(f64::NAN);
        if self.count == 0 {
            (self.least, self.greatest) = (number, number);
        }
        self.count += 1;
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        if let Some(form) = time_form(text) {
            self.precisions.insert(form.precision);
            if form.zone == Zone::Offset && self.offsets.len() < 2 {
                self.offsets.insert(text[text.len() - OFFSET_LENGTH..].to_owned());
            }
            self.has_utc |= form.zone == Zone::Utc;
        }
        let forms = self.forms.get_or_insert_with(|| FORMS.to_vec());
        forms.retain(|form| form.fits(text));
        if !self.has_many && !self.distinct.contains(text) {
            self.distinct.insert(text.to_owned());
            self.has_many = self.distinct.len() > MAX_CHOICES;
        }
    }

    /// Adds the values of another summary.
    pub fn merge(&mut self, other: Summary) {
        if self.forms.is_none() {
            (self.least, self.greatest, self.forms) = (other.least, other.greatest, other.forms);
        } else if let Some(forms) = other.forms {
            self.least = self.least.min(other.least);
            self.greatest = self.greatest.max(other.greatest);
            self.forms.iter_mut().for_each(|own| own.retain(|form| forms.contains(form)));
        }
        self.count += other.count;
        self.nulls += other.nulls;
        other.kinds.into_iter().for_each(|(kind, count)| *self.kinds.entry(kind).or_default() += count);
        self.has_fraction |= other.has_fraction;
        self.distinct.extend(other.distinct);
        self.has_many |= other.has_many || self.distinct.len() > MAX_CHOICES;
        self.precisions.extend(other.precisions);
        self.offsets.extend(other.offsets);
        self.has_utc |= other.has_utc;
    }

    /// Returns the type that all values have, or else most of them.
    pub fn value_type(&self) -> ValueType {
        match self.kinds.iter().max_by_key(|(_, count)| **count).map(|(kind, _)| *kind) {
            Some("number") if self.has_fraction => ValueType::Decimal,
            Some("number") => ValueType::Int,
            Some("bool") => ValueType::Bool,
            Some("binary") => ValueType::Binary,
            Some("list") => ValueType::List,
            Some("map") => ValueType::Map,
            Some("string set" | "number set" | "binary set") => ValueType::Set,
            Some(_) if self.kinds.len() == 1 => self.text_type(),
            _ => ValueType::String,
        }
    }

    /// Returns how many values are of each type, if there are several; the most come first.
    pub fn mixture(&self) -> Option<Vec<String>> {
        let mut kinds: Vec<(&str, u64)> = self.kinds.iter().map(|(kind, count)| (*kind, *count)).collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let printed = kinds.iter().map(|(kind, count)| format!("a {kind} in {}", thousands(*count)));
        (kinds.len() > 1).then(|| printed.collect())
    }

    /// Returns the type of texts, by their form.
    pub fn text_type(&self) -> ValueType {
        let forms = [
            (Form::Date, ValueType::Date),
            (Form::Timestamp, ValueType::Timestamp),
            (Form::Ulid, ValueType::Ulid),
            (Form::Uuid, ValueType::Uuid),
            (Form::Ksuid, ValueType::Ksuid),
        ];
        let form = forms.into_iter().find(|(form, _)| self.has(*form)).map(|(_, kind)| kind);
        form.or_else(|| self.choices())
            .unwrap_or_else(|| if self.has(Form::Identifier) { ValueType::Id } else { ValueType::String })
    }

    /// Returns what narrows the type: the precision that many times have in common, and offsets.
    pub fn limits(&self) -> Limits {
        // Other kinds of values make it a text.
        if !self.has(Form::Timestamp) || self.kinds.len() > 1 {
            return Limits::default();
        }
        let common = self.precisions.first().copied().flatten();
        Limits {
            precision: common.filter(|_| self.precisions.len() == 1 && self.count >= MANY),
            zone: if self.offsets.is_empty() { Zone::Utc } else { Zone::Offset },
            ..Limits::default()
        }
    }

    /// Returns the end that all values have if they are times with one offset: as texts, they sort correctly.
    pub fn only_offset(&self) -> Option<&str> {
        let is_one = self.has(Form::Timestamp) && !self.has_utc && self.offsets.len() == 1;
        self.offsets.first().filter(|_| is_one).map(String::as_str)
    }

    /// Returns whether all values are times in seconds or milliseconds since 1970, and which.
    pub fn epoch(&self) -> Option<&'static str> {
        let within = |factor: f64| {
            EPOCH_SECONDS.contains(&(self.least / factor))
                && EPOCH_SECONDS.contains(&(self.greatest / factor))
        };
        let unit = if within(1.0) { Some("seconds") } else { within(1000.0).then_some("milliseconds") };
        unit.filter(|_| self.has(Form::Integer))
    }

    /// Returns whether all texts are whole numbers.
    pub fn is_integer(&self) -> bool {
        self.has(Form::Integer)
    }

    fn has(&self, form: Form) -> bool {
        self.forms.as_ref().is_some_and(|forms| forms.contains(&form))
    }

    /// A few short words that recur are an enumeration.
    fn choices(&self) -> Option<ValueType> {
        let number = self.distinct.len() as u64;
        let is_word = |text: &String| {
            !text.is_empty()
                && text.chars().all(|character| character.is_ascii_alphabetic() || character == '_')
        };
        let is_upper = self.distinct.iter().all(|text| !text.chars().any(|c| c.is_ascii_lowercase()));
        let each = if is_upper { 4 } else { 6 };
        let recurs = !self.has_many && number >= 2 && self.count >= MANY && self.count >= number * each;
        (recurs && self.distinct.iter().all(is_word))
            .then(|| ValueType::Choice(self.distinct.iter().cloned().collect::<Vec<_>>().into()))
    }
}

const FORMS: [Form; 7] =
    [Form::Date, Form::Timestamp, Form::Ulid, Form::Uuid, Form::Ksuid, Form::Integer, Form::Identifier];

impl Form {
    fn fits(self, text: &str) -> bool {
        let all = |test: fn(char) -> bool| text.chars().all(test);
        match self {
            Form::Date => is_date(text),
            Form::Timestamp => time_form(text).is_some(),
            Form::Ulid => is_ulid(text),
            Form::Uuid => is_uuid(text),
            Form::Ksuid => {
                is_ksuid(text)
                    && text.contains(|c: char| c.is_ascii_lowercase())
                    && text.contains(|c: char| c.is_ascii_uppercase())
                    && text.contains(|c: char| c.is_ascii_digit())
            }
            Form::Integer => text.parse::<i64>().is_ok(),
            Form::Identifier => {
                !text.is_empty() && text.len() <= 40 && all(|c| c.is_alphanumeric() || "_-.:+".contains(c))
            }
        }
    }
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Binary(_) => "binary",
        Value::Bool(_) => "bool",
        Value::Null => "null",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::StringSet(_) => "string set",
        Value::NumberSet(_) => "number set",
        Value::BinarySet(_) => "binary set",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Summary {
        let mut summary = Summary::default();
        texts.iter().for_each(|text| summary.add(&Value::String((*text).to_owned())));
        summary
    }

    #[test]
    fn types_are_those_that_all_values_have() {
        assert_eq!(texts(&["2026-01-02", "2026-02-03"]).value_type(), ValueType::Date);
        assert_eq!(texts(&["2026-01-02", "soon"]).value_type(), ValueType::Id);
        assert_eq!(texts(&["2026-01-02T10:00:00Z"]).value_type(), ValueType::Timestamp);
        assert_eq!(texts(&["2026-01-02T10:00:00Z"; 8]).limits().precision, Some(Precision::Second));
        assert_eq!(texts(&["2026-01-02T10:00:00+02:00"]).limits().zone, Zone::Offset);
        assert_eq!(texts(&["a b"]).value_type(), ValueType::String);
        assert_eq!(texts(&["01ARZ3NDEKTSV4RRFFQ69G5FAV"]).value_type(), ValueType::Ulid);
        let words: Vec<&str> = ["NEW", "PAID"].into_iter().cycle().take(8).collect();
        assert_eq!(
            texts(&words).value_type(),
            ValueType::Choice(vec!["NEW".to_owned(), "PAID".to_owned()].into())
        );
        assert_eq!(texts(&words[..7]).value_type(), ValueType::Id);
        let mut odd = texts(&["2026-01-02T10:00:00Z"; 8]);
        odd.add(&Value::Bool(false));
        assert_eq!((odd.value_type(), odd.limits()), (ValueType::String, Limits::default()));
        let mut mixed = texts(&["n/a"]);
        mixed.add(&Value::Null);
        (0..2).for_each(|_| mixed.add(&Value::Number("1".to_owned())));
        assert_eq!((mixed.value_type(), mixed.count, mixed.nulls), (ValueType::Int, 3, 1));
        assert_eq!(mixed.mixture().unwrap(), ["a number in 2", "a string in 1"]);
    }

    #[test]
    fn times_in_seconds_and_milliseconds_are_told_apart() {
        let epoch = |number: &str| {
            let mut summary = Summary::default();
            summary.add(&Value::Number(number.to_owned()));
            summary.epoch()
        };
        assert_eq!(epoch("1760000000"), Some("seconds"));
        assert_eq!(epoch("1760000000123"), Some("milliseconds"));
        assert_eq!(epoch("42"), None);
    }
}
