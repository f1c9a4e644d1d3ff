//! The type of an attribute from its values. Values are counted one by one and not kept.

use super::odd::is_all_but_few;
use crate::formatting::thousands;
use crate::item::Value;
use crate::model::limits::{Limits, Precision, Zone};
use crate::model::text_form::{is_date, is_ksuid, is_ulid, is_uuid, time_form};
use crate::model::value_type::ValueType;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What fewer values have in common may be an accident.
const MANY: u64 = 8;
/// More different values than this are not choices.
const MAX_CHOICES: usize = 8;
/// The seconds since 1970 of the years 2001 to 2100; a number outside is not a time.
const EPOCH_SECONDS: Range<i64> = 1_000_000_000..4_200_000_000;
const EPOCH_MILLISECONDS: Range<i64> = 1_000 * EPOCH_SECONDS.start..1_000 * EPOCH_SECONDS.end;

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
    /// How many values do not have each form.
    misfits: [u64; FORMS.len()],
    /// The different texts, while there are few.
    distinct: BTreeSet<String>,
    has_many: bool,
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
    Seconds,
    Milliseconds,
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
            self.misfits.iter_mut().for_each(|misfits| *misfits += 1);
        }
    }

    /// Counts a text.
    pub fn add_text(&mut self, text: &str) {
        self.count += 1;
        if let Some(form) = time_form(text) {
            self.precisions.insert(form.precision);
            if form.zone == Zone::Offset && self.offsets.len() < 2 {
                self.offsets.insert(text[text.len() - OFFSET_LENGTH..].to_owned());
            }
            self.has_utc |= form.zone == Zone::Utc;
        }
        for (misfits, form) in self.misfits.iter_mut().zip(FORMS) {
            *misfits += u64::from(!form.fits(text));
        }
        if !self.has_many && !self.distinct.contains(text) {
            self.distinct.insert(text.to_owned());
            self.has_many = self.distinct.len() > MAX_CHOICES;
        }
    }

    /// Adds the values of another summary.
    pub fn merge(&mut self, other: Summary) {
        self.misfits.iter_mut().zip(other.misfits).for_each(|(own, others)| *own += others);
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
            Some(_) if self.is_text() => self.text_type(),
            _ => ValueType::String,
        }
    }

    /// Whether all values are texts, or all but a few odd ones.
    fn is_text(&self) -> bool {
        let others = self.kinds.iter().filter(|(kind, _)| **kind != "string").map(|(_, count)| count);
        self.is_odd(others.sum())
    }

    /// Whether so few values decide nothing.
    fn is_odd(&self, count: u64) -> bool {
        is_all_but_few(self.count.saturating_sub(count) as usize, self.count as usize)
    }

    /// Returns how many values are of each type, if there are several; the most come first.
    pub fn mixture(&self) -> Option<Vec<String>> {
        let mut kinds: Vec<(&str, u64)> = self.kinds.iter().map(|(kind, count)| (*kind, *count)).collect();
        let form = self.form().filter(|_| self.is_text()).map(|(kind, misfits)| (kind.print(), misfits));
        if let Some((form, misfits)) = &form {
            let fitting = self.count - misfits;
            let strings = kinds.iter_mut().filter(|(kind, _)| *kind == "string");
            strings.for_each(|(_, count)| *count = count.saturating_sub(fitting));
            kinds.push((form, fitting));
        }
        kinds.retain(|(_, count)| *count > 0);
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let printed = kinds.iter().map(|(kind, count)| format!("a {kind} in {}", thousands(*count)));
        (kinds.len() > 1).then(|| printed.collect())
    }

    /// The type of texts by their form, and how many values do not have it.
    fn form(&self) -> Option<(ValueType, u64)> {
        let form = FORMS.into_iter().filter(|form| self.has(*form));
        form.filter_map(|form| Some((form.value_type()?, self.misfits(form)))).next()
    }

    /// Returns the type of texts, by their form.
    pub fn text_type(&self) -> ValueType {
        let form = self.form().map(|(kind, _)| kind);
        form.or_else(|| self.choices())
            .unwrap_or_else(|| if self.has(Form::Identifier) { ValueType::Id } else { ValueType::String })
    }

    /// Returns what narrows the type: the precision that many times have in common, and offsets.
    pub fn limits(&self) -> Limits {
        // Other kinds of values make it a text.
        if !self.has(Form::Timestamp) || !self.is_text() {
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
        let units = [(Form::Seconds, "seconds"), (Form::Milliseconds, "milliseconds")];
        units.into_iter().find(|(form, _)| self.has(*form)).map(|(_, unit)| unit)
    }

    /// Returns whether all texts are whole numbers.
    pub fn is_integer(&self) -> bool {
        self.has(Form::Integer)
    }

    /// Whether all values have a form, or all but a few odd ones. Those that are no identifiers are rather other texts than damaged.
    fn has(&self, form: Form) -> bool {
        let misfits = self.misfits(form);
        self.count > 0 && (misfits == 0 || (form != Form::Identifier && self.is_odd(misfits)))
    }

    fn misfits(&self, form: Form) -> u64 {
        self.misfits[form as usize]
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

/// All forms, in their order: a value has the first that fits.
const FORMS: [Form; 9] = [
    Form::Date,
    Form::Timestamp,
    Form::Ulid,
    Form::Uuid,
    Form::Ksuid,
    Form::Seconds,
    Form::Milliseconds,
    Form::Integer,
    Form::Identifier,
];

impl Form {
    /// The type of texts of this form.
    fn value_type(self) -> Option<ValueType> {
        match self {
            Form::Date => Some(ValueType::Date),
            Form::Timestamp => Some(ValueType::Timestamp),
            Form::Ulid => Some(ValueType::Ulid),
            Form::Uuid => Some(ValueType::Uuid),
            Form::Ksuid => Some(ValueType::Ksuid),
            _ => None,
        }
    }

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
            Form::Seconds => is_whole(text, EPOCH_SECONDS),
            Form::Milliseconds => is_whole(text, EPOCH_MILLISECONDS),
            Form::Integer => text.parse::<i64>().is_ok(),
            Form::Identifier => {
                !text.is_empty() && text.len() <= 40 && all(|c| c.is_alphanumeric() || "_-.:+".contains(c))
            }
        }
    }
}

fn is_whole(text: &str, range: Range<i64>) -> bool {
    text.parse().is_ok_and(|number| range.contains(&number))
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
    fn a_damaged_value_among_many_does_not_decide_the_type() {
        let values = [
            ("2026-01-02", ValueType::Date),
            ("2026-01-02T10:00:00Z", ValueType::Timestamp),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", ValueType::Ulid),
            ("697ddd52-6879-4fce-b3c4-98dea5b7fb5b", ValueType::Uuid),
            ("2Nm9wQhT0fzZ4Kq8vXc1LsYb7Ra", ValueType::Ksuid),
        ];
        for (value, kind) in values {
            for odd in [Value::String("?".to_owned()), Value::Bool(true)] {
                let mut many = texts(&[value; 99]);
                many.add(&odd);
                assert_eq!(many.value_type(), kind, "{value} {odd:?}");
                assert_eq!(many.mixture().unwrap()[0], format!("a {} in 99", kind.print()));
                (0..2).for_each(|_| many.add(&odd));
                assert_eq!(many.value_type(), ValueType::String, "{value} {odd:?}");
            }
        }
        let mut times = texts(&["2026-01-02T10:00:00Z"; 60]);
        times.merge(texts(&["2026-01-02T10:00:00Z"; 39]));
        times.merge(texts(&["?"]));
        assert_eq!(
            (times.value_type(), times.limits().precision),
            (ValueType::Timestamp, Some(Precision::Second))
        );
        let mut seconds = texts(&["1760000000"; 99]);
        seconds.add_text("0");
        assert_eq!(seconds.epoch(), Some("seconds"));
        let mut names = texts(&["kettle"; 99]);
        names.add_text("a kettle");
        assert_eq!(names.value_type(), ValueType::String);
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
