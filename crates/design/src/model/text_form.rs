//! The forms of texts that a type prescribes: dates, times, ULIDs, UUIDs and KSUIDs.

use crate::model::limits::{Precision, Zone};

/// The days of each month; February has 29 in a leap year.
const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/// Base 32 without I, L, O and U, as ULIDs use it.
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The form of an ISO 8601 time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeForm {
    /// Its precision; `None` if it has another number of decimals.
    pub precision: Option<Precision>,
    /// Whether it is in UTC.
    pub zone: Zone,
}

/// Returns whether a text is a date of the calendar: `2026-04-05`.
pub fn is_date(text: &str) -> bool {
    let parts: Option<Vec<u32>> =
        [(0, 4), (5, 7), (8, 10)].into_iter().map(|(from, to)| number(text, from, to)).collect();
    let Some([year, month, day]) = parts.as_deref() else { return false };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let index = month.wrapping_sub(1) as usize;
    let days = DAYS.get(index).map_or(0, |days| days + u32::from(is_leap && index == 1));
    text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-") && (1..=days).contains(day)
}

/// Returns the first date of the calendar that sorts behind a text.
pub fn date_after(text: &str) -> Option<String> {
    const DAYS_OF_YEAR: u32 = 12 * 31;
    // Months of 31 days each sort as those of the calendar do.
    let written = |number: u32| {
        let (year, day) = (number / DAYS_OF_YEAR, number % DAYS_OF_YEAR);
        format!("{year:04}-{:02}-{:02}", day / 31 + 1, day % 31 + 1)
    };
    let end = 10_000 * DAYS_OF_YEAR;
    let (mut first, mut beyond) = (0, end);
    while first < beyond {
        let middle = first.midpoint(beyond);
        if written(middle).as_str() > text { beyond = middle } else { first = middle + 1 }
    }
    (first..end).map(written).find(|date| is_date(date))
}

/// Returns the form of an ISO 8601 time with a date, at least minutes, and a zone: `Z` or an offset such as `+02:00`.
pub fn time_form(text: &str) -> Option<TimeForm> {
    let (time, zone) = match text.strip_suffix('Z') {
        Some(time) => (time, Zone::Utc),
        None => {
            let (time, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
            let signed = offset.strip_prefix(['+', '-'])?;
            is_clock(signed).then_some((time, Zone::Offset))?
        }
    };
    let (date, clock) = time.split_once('T')?;
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, rest)| (clock, Some(rest)));
    let (minutes, seconds) = clock.split_at_checked(5)?;
    let has_seconds = match seconds.strip_prefix(':') {
        Some(seconds) => seconds.len() == 2 && number(seconds, 0, 2).is_some_and(|second| second < 60),
        None => false,
    };
    let is_fraction = |digits: &str| {
        has_seconds && (1..=9).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    let is_whole = is_date(date)
        && is_clock(minutes)
        && (seconds.is_empty() || has_seconds)
        && fraction.is_none_or(is_fraction);
    is_whole.then(|| TimeForm { precision: Precision::of_length(time.len()), zone })
}

/// Returns whether a text is a ULID in its canonical form: 26 digits of Crockford's base 32.
pub fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text.starts_with(|first: char| ('0'..='7').contains(&first))
        && text.chars().all(|digit| CROCKFORD.contains(digit))
}

/// Returns whether a text is a UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub fn is_uuid(text: &str) -> bool {
    let is_group = |(group, length): (&str, usize)| {
        group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit())
    };
    text.split('-').count() == 5 && text.split('-').zip([8, 4, 4, 4, 12]).all(is_group)
}

/// Returns whether a text is a KSUID: 27 digits of base 62.
pub fn is_ksuid(text: &str) -> bool {
    text.len() == 27 && text.bytes().all(|digit| digit.is_ascii_alphanumeric())
}

/// `10:30`.
fn is_clock(text: &str) -> bool {
    text.len() == 5
        && text.get(2..3) == Some(":")
        && number(text, 0, 2).is_some_and(|hour| hour < 24)
        && number(text, 3, 5).is_some_and(|minute| minute < 60)
}

/// The number that these digits of a text are.
fn number(text: &str, from: usize, to: usize) -> Option<u32> {
    let digits = text.get(from..to)?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for text in ["2026-04-30", "2024-02-29", "2000-02-29", "0001-12-31"] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "2026-04-31",
            "2025-02-29",
            "1900-02-29",
            "2026-00-01",
            "2026-13-01",
            "2026-4-5",
            "2026/04/05",
            "é26-04-05",
            "",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn the_date_behind_a_text_is_the_next_of_the_calendar() {
        for (text, next) in [
            ("", Some("0000-01-01")),
            ("2024-01-31", Some("2024-02-01")),
            ("2024-02-28", Some("2024-02-29")),
            ("2026-02-28", Some("2026-03-01")),
            ("2026-12-31", Some("2027-01-01")),
            ("2026", Some("2026-01-01")),
            ("2026-04-31", Some("2026-05-01")),
            ("2026-04-05T10:30Z", Some("2026-04-06")),
            ("9999-12-31", None),
            ("a", None),
        ] {
            assert_eq!(date_after(text).as_deref(), next, "{text}");
        }
    }

    #[test]
    fn times_have_a_precision_and_a_zone() {
        for (text, precision, zone) in [
            ("2026-04-05T10:30Z", Some(Precision::Minute), Zone::Utc),
            ("2026-04-05T10:30:00Z", Some(Precision::Second), Zone::Utc),
            ("2026-04-05T10:30:00.123Z", Some(Precision::Millisecond), Zone::Utc),
            ("2026-04-05T10:30:00.123456+02:00", Some(Precision::Microsecond), Zone::Offset),
            ("2026-04-05T10:30:00.1-11:30", None, Zone::Offset),
        ] {
            assert_eq!(time_form(text), Some(TimeForm { precision, zone }), "{text}");
        }
        for text in [
            "2026-04-05",
            "2026-04-05T10:30",
            "2026-04-05T10:30:00",
            "2026-04-05 10:30:00Z",
            "2026-04-05T24:00Z",
            "2026-04-05T10:60Z",
            "2026-04-05T10:30:61Z",
            "2026-04-05T10:30.5Z",
            "2026-04-05T10:30:00.Z",
            "2026-02-30T10:30Z",
            "2026-04-05T10:30:0Z",
            "2026-04-05T10:30+2:00",
            "2026-04-05T10:30:00+25:00",
            "T",
            "Zé",
            "éééééé",
        ] {
            assert_eq!(time_form(text), None, "{text}");
        }
    }

    #[test]
    fn identifiers_have_their_form() {
        assert!(is_ulid("01K6TH9480QZKHFWEAZCG61FZ7") && !is_ulid("01K6TH9480QZKHFWEAZCG61FZI"));
        assert!(!is_ulid("81K6TH9480QZKHFWEAZCG61FZ7") && !is_ulid("01k6th9480qzkhfweazcg61fz7"));
        assert!(
            is_uuid("0193e3a6-0b1d-7c3a-9a6b-2f1e8d7c6b5a")
                && !is_uuid("0193e3a6-0b1d-7c3a-9a6b2f1e8d7c6b5a")
        );
        assert!(
            !is_uuid("0193e3a6-0b1d-7c3a-9a6b-2f1e8d7c6b5a-")
                && !is_uuid("0193e3ag-0b1d-7c3a-9a6b-2f1e8d7c6b5a")
        );
        assert!(is_ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv") && !is_ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLO"));
    }
}
