//! The values of attributes that declared requests are tried with: those that are mentioned, values beside them, and common ones.

use crate::model::Attribute;
use crate::model::decimal::Decimal;
use crate::model::limits::End;
use crate::model::value_type::ValueType;
use std::collections::BTreeSet;

/// How many choices of a type are tried.
const MAX_CHOICES: usize = 15;

/// The first text that is tried.
pub(super) const COMMON: &str = "mm";
/// Others: in other cases, two that begin with the first, and one that sorts behind all ASCII characters.
const OTHERS: [&str; 7] = ["0", "9z", "Zoe", "zoe", "mmm", "mm-m", "\u{e9}mile"];

/// Dates: the last one is in the month of the first, which a key may hold alone.
const DATES: [&str; 4] = ["2026-06-15", "2001-02-03", "2098-11-28", "2026-06-16"];
/// Times: the last ones are in the minute and the hour of the first, which a key may hold alone.
const TIMES: [&str; 5] = [
    "2026-06-15T10:30:00Z",
    "2001-02-03T04:05:06Z",
    "2098-11-28T20:30:40Z",
    "2026-06-15T10:30:59Z",
    "2026-06-15T10:59:00Z",
];

/// Whether a text can be a value of an attribute, or the start of a time.
fn is_value(attribute: &Attribute, text: &str) -> bool {
    match &attribute.kind {
        kind if kind.is_number() => Decimal::parse(text).is_some(),
        kind if kind.is_time() => text.len() >= 4 && text.bytes().take(4).all(|digit| digit.is_ascii_digit()),
        ValueType::Choice(choices) => choices.iter().any(|choice| choice == text),
        _ => !text.is_empty(),
    }
}

/// The constants that an attribute is compared with, values beside them, and common ones.
pub(super) fn values_beside<'a>(
    attribute: &Attribute,
    delimiter: char,
    mentioned: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mentioned: Vec<&str> = mentioned.filter(|text| is_value(attribute, text)).collect();
    let mut values: Vec<String> = match &attribute.kind {
        ValueType::Choice(choices) => return choices.iter().take(MAX_CHOICES).cloned().collect(),
        ValueType::Bool => return ["true", "false"].map(str::to_owned).to_vec(),
        ValueType::Int | ValueType::Decimal => {
            let one = Decimal::parse("1").unwrap_or_default();
            let beside = |text: &&str| {
                let number = Decimal::parse(text).unwrap_or_default();
                [number.plus(&one.negated()), number.clone(), number.plus(&one)]
                    .map(|number| number.to_string())
            };
            let limits = [&attribute.limits.min, &attribute.limits.max]
                .map(|limit| limit.as_ref().map(Decimal::to_string));
            let common = ["5", "50", "500"].map(str::to_owned);
            common
                .into_iter()
                .chain(mentioned.iter().flat_map(beside))
                .chain(limits.into_iter().flatten())
                .collect()
        }
        ValueType::Date => {
            let filled =
                mentioned.iter().flat_map(|text| ["-01-01", "-12-31"].map(|rest| filled(text, rest)));
            DATES.map(str::to_owned).into_iter().chain(filled).collect()
        }
        ValueType::Timestamp => {
            let ends = mentioned.iter().flat_map(|text| [(text, End::Lower), (text, End::Upper)]);
            let filled = ends.map(|(text, end)| {
                let rest = match end {
                    End::Lower => "-01-01T00:00:00Z",
                    End::Upper => "-12-28T23:59:59Z",
                };
                let whole = if text.ends_with('Z') { (*text).to_owned() } else { filled(text, rest) };
                attribute.limits.bound(&whole, end)
            });
            TIMES.map(|text| attribute.limits.bound(text, End::Lower)).into_iter().chain(filled).collect()
        }
        ValueType::Ulid => {
            ["01KA0B7XK4T3M9W2Q8R5V6Y1ZE", "01KA0B7XK4T3M9W2Q8R5V6Y1ZF"].map(str::to_owned).to_vec()
        }
        ValueType::Uuid => ["0193e3a6-0000-7000-8000-000000000001", "a193e3a6-0000-7000-8000-000000000002"]
            .map(str::to_owned)
            .to_vec(),
        ValueType::Ksuid => {
            ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "1srOrx2ZWZBpBUvZwXKQmoEYga2"].map(str::to_owned).to_vec()
        }
        ValueType::String | ValueType::Id => {
            let beside = mentioned.iter().flat_map(|text| {
                [Some((*text).to_owned()), Some(format!("{text}m")), text_before(text, delimiter)]
            });
            let common = std::iter::once(COMMON).chain(OTHERS).map(str::to_owned);
            common.chain(beside.flatten()).collect()
        }
        ValueType::List | ValueType::Map | ValueType::Set | ValueType::Binary => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

/// The start of a time, from its year on, with what it lacks of the rest behind a year.
fn filled(start: &str, rest: &str) -> String {
    format!("{start}{}", rest.get(start.len().saturating_sub(4)..).unwrap_or_default())
}

/// A text that sorts before another one, and before all that starts with it.
fn text_before(text: &str, delimiter: char) -> Option<String> {
    let last = text.chars().next_back()?;
    let before = (' '..last).rev().find(|own| *own != delimiter)?;
    Some(format!("{}{before}m", text.strip_suffix(last)?))
}
