//! Formats of template fields: how a value is written into a key and read back.

use super::DELIMITER;
use crate::model::value_type::ValueType;
use std::borrow::Cow;

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
    /// As the start of an ISO 8601 time, of this many characters: 4 (year), 7, 10, 13 or 16 (minute).
    Bucket(usize),
    /// With `#` and `%` escaped.
    Escaped,
}

impl Format {
    pub(super) fn parse(text: &str) -> Option<Format> {
        if text == "escaped" {
            return Some(Format::Escaped);
        }
        if let Some((_, length)) = BUCKETS.iter().find(|(name, _)| *name == text) {
            return Some(Format::Bucket(*length));
        }
        let (width, decimals) = text.strip_prefix('0')?.split_once('.').unwrap_or((&text[1..], "0"));
        let (width, decimals) = (width.parse().ok()?, decimals.parse().ok()?);
        let fits = (1..=MAX_DIGITS).contains(&width) && decimals <= MAX_DIGITS;
        fits.then_some(Format::Padded { width, decimals })
    }

    pub(super) fn print(self) -> String {
        match self {
            Format::Plain => String::new(),
            Format::Padded { width, decimals: 0 } => format!(":0{width}"),
            Format::Padded { width, decimals } => format!(":0{width}.{decimals}"),
            Format::Bucket(length) => {
                let name = BUCKETS.iter().find(|(_, candidate)| *candidate == length).map(|(name, _)| *name);
                format!(":{}", name.unwrap_or_default())
            }
            Format::Escaped => ":escaped".to_owned(),
        }
    }

    /// Returns the text of a value in a key; `None` if the value does not fit the format.
    pub fn apply(self, value: &str) -> Option<String> {
        match self {
            Format::Plain => Some(value.to_owned()),
            Format::Escaped => Some(value.replace('%', "%25").replace(DELIMITER, "%23")),
            Format::Bucket(length) => value.get(..length).map(str::to_owned),
            Format::Padded { width, decimals } => {
                let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
                let digits = |text: &str| text.chars().all(|character| character.is_ascii_digit());
                if whole.is_empty() || whole.len() > width || fraction.len() > decimals {
                    return None;
                }
                if !digits(whole) || !digits(fraction) {
                    return None;
                }
                let point = if decimals > 0 { "." } else { "" };
                Some(format!("{whole:0>width$}{point}{fraction:0<decimals$}"))
            }
        }
    }

    /// Returns the value of a text that [`Self::apply`] produced.
    pub(super) fn restore(self, text: &str) -> Cow<'_, str> {
        match self {
            Format::Plain | Format::Bucket(_) => Cow::Borrowed(text),
            Format::Escaped => Cow::Owned(text.replace("%23", "#").replace("%25", "%")),
            Format::Padded { decimals, .. } => {
                let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
                let whole = whole.trim_start_matches('0');
                let whole = if whole.is_empty() { "0" } else { whole };
                let fraction = fraction.trim_end_matches('0');
                Cow::Owned(if decimals == 0 || fraction.is_empty() {
                    whole.to_owned()
                } else {
                    format!("{whole}.{fraction}")
                })
            }
        }
    }

    /// Returns the number of characters of every text, if it is fixed.
    pub(super) fn length(self) -> Option<usize> {
        match self {
            Format::Bucket(length) => Some(length),
            Format::Padded { width, decimals: 0 } => Some(width),
            Format::Padded { width, decimals } => Some(width + 1 + decimals),
            Format::Plain | Format::Escaped => None,
        }
    }

    /// Returns whether the texts sort as values of this type do.
    pub fn keeps_order(self, kind: &ValueType) -> bool {
        match self {
            Format::Padded { .. } | Format::Bucket(_) => true,
            // Escaping moves only values that contain # or %, and those stay close to their position.
            Format::Plain | Format::Escaped => kind.sorts_as_text(),
        }
    }
}
