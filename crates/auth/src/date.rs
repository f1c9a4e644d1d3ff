//! The compact ISO dates of signatures: `20261115T184454Z`.

use partita_value::calendar::{DateTime, days_since_1970};

/// Seconds since 1970 of a compact date; `None` if it is none.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 16 || bytes[8] != b'T' || bytes[15] != b'Z' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let (hour, minute, second) = (number(9..11)?, number(11..13)?, number(13..15)?);
    let plausible =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    plausible.then(|| days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// A moment as a compact date.
pub fn format(seconds: i64) -> String {
    DateTime::from_unix_seconds(seconds).to_basic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for (text, seconds) in [
            ("19700101T000000Z", 0),
            ("20000229T000000Z", 951_782_400),
            ("20261115T184454Z", 1_794_768_294),
            ("20241231T235959Z", 1_735_689_599),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
            assert_eq!(format(seconds), text);
        }
        for text in
            ["", "20261115", "2026-11-15T18:44", "20261315T184454Z", "20261115T184454z", "2026é115T18445Z"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
