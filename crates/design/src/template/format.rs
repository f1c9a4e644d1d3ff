//! Formats of template fields: how a value is written into a key and read back.

use super::DELIMITER;
use crate::model::decimal::Decimal;
use crate::model::value_type::ValueType;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The most digits of a number, before and after the decimal point.
const MAX_DIGITS: usize = 38;
/// Time buckets, and how many characters of an ISO 8601 time they keep.
const BUCKETS: [(&str, usize); 5] = [("year", 4), ("month", 7), ("day", 10), ("hour", 13), ("minute", 16)];

/// How a value is written into a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// As it is.
    Plain,
    /// As a number padded with zeros.
    Padded {
        /// Digits before the decimal point.
        width: usize,
        /// Digits after the decimal point.
        decimals: usize,
    },
    /// As a number of either sign that sorts as text: `1` and the padded digits from zero on, `0` and their complements to nine below.
    Signed {
        /// Digits before the decimal point.
        width: usize,
        /// Digits after the decimal point.
        decimals: usize,
    },
    /// As the start of an ISO 8601 time, of this many characters: 4 (year), 7, 10, 13 or 16 (minute).
    Bucket(usize),
    /// With `#` and `%` escaped.
    Escaped,
    /// In lower case.
    Lower,
}

impl Format {
    /// A time up to its minute.
    pub const MINUTE: Format = Format::Bucket(16);

    pub(super) fn parse(text: &str) -> Option<Format> {
        match text {
            "escaped" => return Some(Format::Escaped),
            "lower" => return Some(Format::Lower),
            _ => {}
        }
        if let Some((_, length)) = BUCKETS.iter().find(|(name, _)| *name == text) {
            return Some(Format::Bucket(*length));
        }
        let (signed, digits) = text.strip_prefix('+').map_or((false, text), |digits| (true, digits));
        let digits = digits.strip_prefix('0')?;
        let (width, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let (width, decimals) = (width.parse().ok()?, decimals.parse().ok()?);
        let fits = (1..=MAX_DIGITS).contains(&width) && decimals <= MAX_DIGITS;
        let format =
            if signed { Format::Signed { width, decimals } } else { Format::Padded { width, decimals } };
        fits.then_some(format)
    }

    pub(super) fn print(self) -> String {
        match self {
            Format::Plain => String::new(),
            Format::Padded { width, decimals } => format!(":{}", digits_text(width, decimals)),
            Format::Signed { width, decimals } => format!(":+{}", digits_text(width, decimals)),
            Format::Bucket(_) => format!(":{}", self.period().unwrap_or_default()),
            Format::Escaped => ":escaped".to_owned(),
            Format::Lower => ":lower".to_owned(),
        }
    }

    /// Returns the name of the period into which it puts a time: `day`.
    pub fn period(self) -> Option<&'static str> {
        let Format::Bucket(length) = self else { return None };
        BUCKETS.iter().find(|(_, own)| *own == length).map(|(name, _)| *name)
    }

    /// Returns the type of what it writes, where not every value with a text can be written so.
    pub fn kind(self) -> Option<ValueType> {
        match self {
            Format::Bucket(_) => Some(ValueType::Timestamp),
            Format::Padded { decimals: 0, .. } | Format::Signed { decimals: 0, .. } => Some(ValueType::Int),
            Format::Padded { .. } | Format::Signed { .. } => Some(ValueType::Decimal),
            Format::Plain | Format::Escaped | Format::Lower => None,
        }
    }

    /// Returns the text of a value in a key; `None` if the value does not fit the format.
    pub fn apply(self, value: &str) -> Option<String> {
        match self {
            Format::Plain => Some(value.to_owned()),
            Format::Escaped => Some(value.replace('%', "%25").replace(DELIMITER, "%23")),
            Format::Lower => Some(value.to_lowercase()),
            Format::Bucket(length) => value.get(..length).map(str::to_owned),
            Format::Padded { width, decimals } => {
                let number = Decimal::parse(value).filter(|number| !number.is_negative())?;
                padded(&number, width, decimals)
            }
            Format::Signed { width, decimals } => {
                let number = Decimal::parse(value)?;
                let digits = padded(&number, width, decimals)?;
                Some(if number.is_negative() {
                    format!("0{}", complement(&digits))
                } else {
                    format!("1{digits}")
                })
            }
        }
    }

    /// Returns the texts of those choices that fit the format.
    pub(super) fn choices(self, choices: &[String]) -> impl Iterator<Item = String> {
        choices.iter().filter_map(move |choice| self.apply(choice))
    }

    /// Returns whether it writes whole numbers in a fixed number of digits.
    pub(super) fn is_whole_padded(self) -> bool {
        matches!(self, Format::Padded { decimals: 0, .. })
    }

    /// Returns the value of a text that [`Self::apply`] produced, or what is left of it ([`Self::is_readable`]).
    pub(crate) fn restore(self, text: &str) -> Cow<'_, str> {
        match self {
            Format::Plain | Format::Bucket(_) | Format::Lower => Cow::Borrowed(text),
            Format::Escaped => Cow::Owned(text.replace("%23", "#").replace("%25", "%")),
            Format::Padded { .. } => Cow::Owned(unpadded(text)),
            Format::Signed { .. } => match (text.strip_prefix('1'), text.strip_prefix('0')) {
                (Some(digits), _) => Cow::Owned(unpadded(digits)),
                (_, Some(digits)) => Cow::Owned(format!("-{}", unpadded(&complement(digits)))),
                _ => Cow::Borrowed(text),
            },
        }
    }

    /// Returns the number of characters of every text, if it is fixed.
    pub(crate) fn length(self) -> Option<usize> {
        match self {
            Format::Bucket(length) => Some(length),
            Format::Padded { width, decimals } => Some(width + point(decimals).len() + decimals),
            Format::Signed { width, decimals } => Some(1 + width + point(decimals).len() + decimals),
            Format::Plain | Format::Escaped | Format::Lower => None,
        }
    }

    /// Returns whether the value can be read back from its text.
    pub fn is_readable(self) -> bool {
        !matches!(self, Format::Bucket(_) | Format::Lower)
    }

    /// Returns whether values of this type that differ have texts that differ. A time bucket is coarse on purpose, and not asked about.
    pub fn tells_apart(self, kind: &ValueType) -> bool {
        match kind {
            _ if self != Format::Lower => true,
            ValueType::Choice(choices) => {
                let lower: BTreeSet<String> = choices.iter().map(|choice| choice.to_lowercase()).collect();
                lower.len() == choices.len()
            }
            ValueType::String | ValueType::Id | ValueType::Ksuid | ValueType::Uuid => false,
            _ => true,
        }
    }

    /// Returns whether a text stands for one value of this type, and not for a span of time or for texts that differ in case.
    pub fn holds_whole(self, kind: &ValueType) -> bool {
        match self {
            Format::Bucket(length) => *kind == ValueType::Date && length >= "2026-04-05".len(),
            _ => self.tells_apart(kind),
        }
    }

    /// Returns whether its text of a value shows what another one's is: the day shows the month.
    pub fn shows(self, other: Format) -> bool {
        match (self, other) {
            (Format::Bucket(own), Format::Bucket(other)) => own >= other,
            (own, other) => own == other,
        }
    }

    /// Returns whether the texts sort as values of this type do.
    pub fn keeps_order(self, kind: &ValueType) -> bool {
        match self {
            Format::Padded { .. } | Format::Signed { .. } | Format::Bucket(_) => true,
            // Escaping moves only values that contain # or %, and those stay close to their position.
            Format::Plain | Format::Escaped => kind.sorts_as_text(),
            // Upper-case letters sort before all lower-case letters.
            Format::Lower => match kind {
                ValueType::Choice(choices) => {
                    let mut sorted: Vec<&String> = choices.iter().collect();
                    sorted.sort();
                    sorted.windows(2).all(|pair| pair[0].to_lowercase() < pair[1].to_lowercase())
                }
                other => other.sorts_as_text() && self.tells_apart(other),
            },
        }
    }
}

/// The width of a number as a format writes it: `08.2`.
fn digits_text(width: usize, decimals: usize) -> String {
    if decimals == 0 { format!("0{width}") } else { format!("0{width}.{decimals}") }
}

fn point(decimals: usize) -> &'static str {
    if decimals > 0 { "." } else { "" }
}

/// The digits of a number without its sign; `None` if there are more than the width has room for.
fn padded(number: &Decimal, width: usize, decimals: usize) -> Option<String> {
    if number.whole_digits() > width || number.decimals() > decimals {
        return None;
    }
    let (whole, fraction) = number.parts();
    Some(format!("{whole:0>width$}{}{fraction:0<decimals$}", point(decimals)))
}

/// The shortest text of padded digits.
fn unpadded(digits: &str) -> String {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Each digit taken from nine, so that larger numbers have smaller texts.
fn complement(digits: &str) -> String {
    let turned = |digit: char| match digit.to_digit(10) {
        Some(value) => char::from(b'9' - value as u8),
        None => digit,
    };
    digits.chars().map(turned).collect()
}
