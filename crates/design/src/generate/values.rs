//! Generates single values, plausible for the type and, where it helps, for the name of the attribute.

use crate::model::Attribute;
use crate::model::decimal::{Decimal, number_text};
use crate::model::limits::{Limits, Precision};
use crate::model::value_type::ValueType;
use crate::random::at;

pub(super) const WORDS: [&str; 24] = [
    "amber", "bridge", "cedar", "delta", "ember", "falcon", "garden", "harbour", "island", "juniper",
    "kettle", "lantern", "meadow", "north", "orchard", "pepper", "quartz", "river", "silver", "timber",
    "umbra", "velvet", "willow", "zephyr",
];
const NAMES: [&str; 16] = [
    "Ada", "Ben", "Chidi", "Dana", "Elif", "Farid", "Grace", "Hana", "Ivan", "June", "Kofi", "Lena", "Mira",
    "Noor", "Omar", "Petra",
];
const CITIES: [&str; 8] = ["Lagos", "Lyon", "Osaka", "Porto", "Quito", "Turin", "Utrecht", "Vienna"];
/// 1 January 2026, the latest time that is drawn.
const NOW: u64 = 1_767_225_600;
const YEAR: u64 = 31_536_000;
const DAY: u64 = 86_400;

/// A value of a type; text is chosen by the name of the attribute where that helps.
pub(super) fn plain_value(attribute: &Attribute, drawn: u64, number: u64) -> String {
    let drawn = attribute.values.map_or(drawn, |values| drawn % values.max(1));
    let limits = &attribute.limits;
    match &attribute.kind {
        ValueType::Int => whole(limits, drawn % 100),
        ValueType::Decimal => decimal(limits, drawn),
        ValueType::Bool => (drawn.is_multiple_of(10)).to_string(),
        ValueType::Timestamp => precise(&timestamp(NOW - drawn % YEAR), limits.precision, drawn),
        ValueType::Date => timestamp(NOW - drawn % YEAR)[..10].to_owned(),
        ValueType::Ulid => ulid(NOW - drawn % YEAR, drawn),
        ValueType::Uuid => uuid(drawn),
        ValueType::Ksuid => ksuid(NOW - drawn % YEAR, drawn),
        ValueType::Choice(choices) => {
            // The first states of a life cycle are rarer than the last.
            let weight = choices.len() * (choices.len() + 1) / 2;
            let mut point = (drawn % weight.max(1) as u64) as usize;
            let mut chosen = 0;
            while chosen + 1 < choices.len() && point > chosen {
                point -= chosen + 1;
                chosen += 1;
            }
            choices[chosen].clone()
        }
        ValueType::Id => format!("{}-{}", WORDS[(drawn % 24) as usize], drawn / 24 % 100),
        ValueType::String => words(&attribute.name, drawn, number),
        ValueType::Binary => "AAEC".to_owned(),
        ValueType::List | ValueType::Map | ValueType::Set => WORDS[(drawn % 24) as usize].to_owned(),
    }
}

/// A number or a time that no item of another number has, as long as the limits leave room.
pub(super) fn distinct_value(attribute: &Attribute, number: u64) -> String {
    let limits = &attribute.limits;
    match attribute.kind {
        ValueType::Timestamp => {
            let step = if limits.precision == Some(Precision::Minute) { 60 } else { 1 };
            precise(&timestamp(NOW.saturating_sub(number.saturating_mul(step))), limits.precision, 0)
        }
        ValueType::Date => timestamp(NOW.saturating_sub(number.saturating_mul(DAY)))[..10].to_owned(),
        _ => whole(limits, number),
    }
}

/// An expiry time, in seconds: far enough in the future that nothing vanishes while it is looked at.
pub(super) fn expiry(drawn: u64) -> String {
    (NOW + 10 * YEAR + drawn % YEAR).to_string()
}

/// A whole number within limits, `ordinal` above the least one; from zero on if that is possible.
pub(super) fn whole(limits: &Limits, ordinal: u64) -> String {
    let max = limits.max.as_ref().and_then(Decimal::floor);
    let least = limits.min.as_ref().and_then(Decimal::ceiling);
    let start = least.unwrap_or_else(|| max.map_or(0, |max| max.min(0)));
    let room = max.map_or(u128::MAX, |max| max.saturating_sub(start).max(0).unsigned_abs().saturating_add(1));
    start.saturating_add((u128::from(ordinal) % room) as i128).to_string()
}

/// A number with cents within limits.
fn decimal(limits: &Limits, drawn: u64) -> String {
    let number = number_text(&format!("{}.{:02}", whole(limits, drawn % 500), (drawn / 500) % 100));
    let fits = |text: &str| {
        Decimal::parse(text).is_some_and(|number| {
            limits.min.as_ref().is_none_or(|min| number >= *min)
                && limits.max.as_ref().is_none_or(|max| number <= *max)
        })
    };
    let edges = [&limits.min, &limits.max].into_iter().flatten().map(Decimal::to_string);
    [number, whole(limits, drawn % 500)].into_iter().chain(edges).find(|text| fits(text)).unwrap_or_default()
}

/// A time of seconds with another precision.
fn precise(time: &str, precision: Option<Precision>, drawn: u64) -> String {
    let seconds = time.trim_end_matches('Z');
    match precision {
        None | Some(Precision::Second) => time.to_owned(),
        Some(Precision::Minute) => format!("{}Z", &time[..16]),
        Some(Precision::Millisecond) => format!("{seconds}.{:03}Z", drawn % 1_000),
        Some(Precision::Microsecond) => format!("{seconds}.{:06}Z", drawn % 1_000_000),
    }
}

fn words(name: &str, drawn: u64, number: u64) -> String {
    let lower = name.to_lowercase();
    let pick = |list: &[&'static str], turn: u64| list[(turn % list.len() as u64) as usize];
    if lower.contains("email") {
        return format!("{}.{number}@example.com", pick(&NAMES, drawn).to_lowercase());
    }
    if lower.contains("city") || lower.contains("address") {
        return pick(&CITIES, drawn).to_owned();
    }
    if lower.ends_with("name") {
        return format!("{} {}", pick(&NAMES, drawn), capital(pick(&WORDS, drawn / 16)));
    }
    if lower.contains("url") {
        return format!("https://example.com/{}/{number}", pick(&WORDS, drawn));
    }
    format!("{} {}", capital(pick(&WORDS, drawn)), pick(&WORDS, drawn / 24))
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Formats seconds since 1970 as ISO 8601. `partita_value::calendar` cannot be used: this crate depends on no other.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Converts days to a civil date by eras of 400 years that start in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

fn ulid(seconds: u64, drawn: u64) -> String {
    let time = crockford(u128::from(seconds) * 1000);
    let random = crockford(u128::from(drawn) << 16 | u128::from(drawn >> 48));
    format!("{time:0>10}{random:0>16}")
}

/// 160 bits in base 62: the seconds since 13 May 2014, and what tells identifiers of one second apart.
fn ksuid(seconds: u64, drawn: u64) -> String {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let time = seconds.saturating_sub(1_400_000_000) as u32;
    let mut words = [time, (drawn >> 32) as u32, drawn as u32, !drawn as u32, drawn.rotate_left(7) as u32];
    let mut digits = ['0'; 27];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0;
        for word in &mut words {
            let value = rest << 32 | u64::from(*word);
            *word = (value / 62) as u32;
            rest = value % 62;
        }
        *digit = DIGITS[rest as usize] as char;
    }
    digits.iter().collect()
}

fn uuid(drawn: u64) -> String {
    let other = at(drawn, "uuid", 1);
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        drawn >> 32,
        drawn >> 16 & 0xFFFF,
        drawn & 0xFFF,
        0x8000 | other >> 50,
        other & 0xFFFF_FFFF_FFFF
    )
}

/// A number in Crockford's base 32.
fn crockford(mut number: u128) -> String {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut text = Vec::new();
    while number > 0 {
        text.push(DIGITS[(number % 32) as usize] as char);
        number /= 32;
    }
    text.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text_form::is_ksuid;

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(NOW), "2026-01-01T00:00:00Z");
        assert_eq!(timestamp(951_827_696), "2000-02-29T12:34:56Z");
    }

    #[test]
    fn identifiers_have_their_length() {
        assert_eq!(ulid(NOW, u64::MAX).len(), 26);
        assert_eq!(uuid(7).len(), 36);
        assert!(is_ksuid(&plain_value(&Attribute::new("k", ValueType::Ksuid), 99, 1)));
        assert!(ksuid(NOW, u64::MAX) < ksuid(NOW + 1, 0));
    }
}
