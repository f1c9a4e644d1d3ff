//! What narrows the type of an attribute: the least and the greatest number, the precision and the zone of times.

use crate::model::decimal::Decimal;
use crate::model::text_form::time_form;

/// The limits of an attribute's values; what is not declared is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The least number.
    pub min: Option<Decimal>,
    /// The greatest number.
    pub max: Option<Decimal>,
    /// The precision that every time has.
    pub precision: Option<Precision>,
    /// The zone of times.
    pub zone: Zone,
}

/// The precision of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// `2026-04-05T10:30Z`.
    Minute,
    /// `2026-04-05T10:30:00Z`.
    Second,
    /// `2026-04-05T10:30:00.000Z`.
    Millisecond,
    /// `2026-04-05T10:30:00.000000Z`.
    Microsecond,
}

/// The ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The least value.
    Lower,
    /// The greatest value.
    Upper,
}

/// The zone of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// UTC, written as `Z`: times sort as their text does.
    #[default]
    Utc,
    /// Any offset, as in `+02:00`: the text does not sort as the times do.
    Offset,
}

const PRECISIONS: [(&str, Precision, usize); 4] = [
    ("minute", Precision::Minute, "2026-04-05T10:30".len()),
    ("second", Precision::Second, "2026-04-05T10:30:00".len()),
    ("millisecond", Precision::Millisecond, "2026-04-05T10:30:00.000".len()),
    ("microsecond", Precision::Microsecond, "2026-04-05T10:30:00.000000".len()),
];

impl Precision {
    /// Returns the names that a model uses.
    pub fn names() -> [&'static str; 4] {
        PRECISIONS.map(|(name, ..)| name)
    }

    /// Parses the name that a model uses.
    pub fn parse(text: &str) -> Option<Precision> {
        PRECISIONS.iter().find(|(name, ..)| *name == text).map(|(_, precision, _)| *precision)
    }

    /// Returns the name that a model uses.
    pub fn name(self) -> &'static str {
        PRECISIONS.iter().find(|(_, precision, _)| *precision == self).map_or("", |(name, ..)| *name)
    }

    /// Returns the precision of times that have this many characters before their zone.
    pub fn of_length(length: usize) -> Option<Precision> {
        PRECISIONS.iter().find(|(.., characters)| *characters == length).map(|(_, precision, _)| *precision)
    }

    /// Returns a time in UTC, which bounds a range, in this precision: what is too precise is cut off, and a time that is not precise enough stands for
    /// all that it contains. `None` for everything else: a bound that is the start of a time, or no time.
    pub fn bound(self, text: &str, end: End) -> Option<String> {
        let time = text.strip_suffix('Z').filter(|_| time_form(text).is_some())?;
        let filling = match end {
            End::Lower => "2026-04-05T10:30:00.000000",
            End::Upper => "2026-04-05T10:30:59.999999",
        };
        let length =
            PRECISIONS.iter().find(|(_, precision, _)| *precision == self).map(|(.., length)| *length)?;
        let whole = format!("{time}{}", filling.get(time.len()..).unwrap_or_default());
        Some(format!("{}Z", whole.get(..length)?))
    }
}

impl Limits {
    /// Returns the bound of a range as values within these limits are written.
    pub fn bound(&self, text: &str, end: End) -> String {
        let precise = self.precision.and_then(|precision| precision.bound(text, end));
        precise.unwrap_or_else(|| text.to_owned())
    }

    /// Returns whether all values within these limits are within the others too.
    pub fn are_within(&self, others: &Limits) -> bool {
        let least =
            others.min.as_ref().is_none_or(|theirs| self.min.as_ref().is_some_and(|own| own >= theirs));
        let greatest =
            others.max.as_ref().is_none_or(|theirs| self.max.as_ref().is_some_and(|own| own <= theirs));
        let precision = others.precision.is_none() || others.precision == self.precision;
        least && greatest && precision && (others.zone == Zone::Offset || self.zone == Zone::Utc)
    }
}
