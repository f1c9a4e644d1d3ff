//! Values of relational columns as values of attributes.

use super::query_log::seconds;
use crate::exchange::item_json::plain_json;
use crate::item::Value;
use crate::model::Attribute;
use crate::model::limits::Precision;
use crate::model::text_form::{is_date, time_form};
use crate::model::value_type::ValueType;

/// The value of an attribute, from the text that a database writes into CSV.
pub(super) fn value(attribute: &Attribute, text: &str) -> Result<Value, String> {
    let not = |what: &str| format!("`{text}` is not {what}");
    Ok(match &attribute.kind {
        ValueType::Int => Value::Number(
            plain_number(text).filter(|number| !number.contains('.')).ok_or_else(|| not("a whole number"))?,
        ),
        ValueType::Decimal => Value::Number(plain_number(text).ok_or_else(|| not("a number"))?),
        ValueType::Bool => Value::Bool(truth(text).ok_or_else(|| not("true or false"))?),
        ValueType::Timestamp => {
            let time = utc(text).ok_or_else(|| not("a time"))?;
            Value::String(
                attribute.limits.precision.map_or_else(|| time.clone(), |wanted| shortened(&time, wanted)),
            )
        }
        ValueType::Uuid => Value::String(text.to_lowercase()),
        ValueType::Binary => Value::Binary(base64(
            &from_hexadecimal(text).ok_or_else(|| not("bytes in hexadecimal, as in \\x6869"))?,
        )),
        ValueType::Map => plain_json(text).ok_or_else(|| not("JSON"))?,
        ValueType::List => {
            Value::List(elements(text).ok_or_else(|| not("a JSON list or an array of PostgreSQL"))?)
        }
        ValueType::Set => {
            let texts = |elements: Vec<Value>| elements.iter().map(Value::to_text).collect();
            Value::StringSet(
                elements(text).and_then(texts).ok_or_else(|| not("a list of texts and numbers"))?,
            )
        }
        ValueType::Choice(choices) if !choices.has(text) => {
            return Err(not(&format!("one of {}", choices.join(", "))));
        }
        _ => Value::String(text.to_owned()),
    })
}

fn truth(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "t" | "true" | "1" | "yes" => Some(true),
        "f" | "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

/// A number without leading or trailing zeros and without an exponent, if it is one of at most 200 digits.
pub(super) fn plain_number(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() < 130)?;
    let negative = mantissa.starts_with('-');
    let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 200 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let (before, after) = if point <= 0 {
        (String::new(), zeros(-point) + &digits)
    } else if let Some((before, after)) = digits.split_at_checked(usize::try_from(point).ok()?) {
        (before.to_owned(), after.to_owned())
    } else {
        (digits.clone() + &zeros(point - i32::try_from(digits.len()).ok()?), String::new())
    };
    let (before, after) = (before.trim_start_matches('0'), after.trim_end_matches('0'));
    let before = if before.is_empty() { "0" } else { before };
    let sign = if negative && (before != "0" || !after.is_empty()) { "-" } else { "" };
    Some(if after.is_empty() { format!("{sign}{before}") } else { format!("{sign}{before}.{after}") })
}

/// A time in UTC with microseconds, so that all times of a column sort as text. A time without a zone is one in UTC.
fn utc(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        // A date without dashes is not a number of seconds.
        if text.len() == 8 && is_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..])) {
            return None;
        }
        return written(text.parse::<i64>().ok().filter(|seconds| *seconds < 253_402_300_800)?, 0);
    }
    let padded = if text.len() == 10 { format!("{text}T00:00:00") } else { text.to_owned() };
    let (date, clock) = padded.split_at_checked(10)?;
    let clock = clock.strip_prefix(['T', 't', ' '])?;
    let is_clock = |character: char| character.is_ascii_digit() || ":.".contains(character);
    let (clock, zone) = clock.split_at(clock.find(|character| !is_clock(character)).unwrap_or(clock.len()));
    time_form(&format!("{date}T{clock}Z"))?;
    let local = seconds(&padded)?.floor() as i64;
    // What is finer than a microsecond would be lost.
    let digits = clock.split_once('.').map_or("", |(_, digits)| digits.trim_end_matches('0'));
    let micros: i64 = format!("{digits:0<6}").parse().ok().filter(|_| digits.len() <= 6)?;
    written(local - offset(zone.trim())?, micros)
}

/// A time with microseconds in another precision, if it loses nothing.
fn shortened(time: &str, precision: Precision) -> String {
    let length = match precision {
        Precision::Minute => 16,
        Precision::Second => 19,
        Precision::Millisecond => 23,
        Precision::Microsecond => 26,
    };
    let (kept, dropped) = time.split_at(length);
    if dropped.trim_end_matches('Z').chars().all(|character| "0:.".contains(character)) {
        format!("{kept}Z")
    } else {
        time.to_owned()
    }
}

/// The seconds of a zone: `Z`, `+02`, `-05:30`, `+0200`, or none.
fn offset(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") || zone.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String =
        zone.strip_prefix(['+', '-'])?.chars().filter(|character| *character != ':').collect();
    let number =
        |from: usize, to: usize| digits.get(from..to).map_or(Some(0), |part| part.parse::<i64>().ok());
    let fits = [2, 4, 6].contains(&digits.len());
    Some(sign * (number(0, 2)? * 3_600 + number(2, 4)? * 60 + number(4, 6)?)).filter(|_| fits)
}

/// A time of seconds since 1970 in ISO 8601.
fn written(seconds: i64, micros: i64) -> Option<String> {
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that start in March, in eras of 400.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carried) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carried;
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    (0..=9_999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z"))
}

/// The bytes that a text has in hexadecimal, with or without `\x` before them.
pub fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let hexadecimal = text.strip_prefix("\\x").unwrap_or(text);
    let pairs = hexadecimal.as_bytes().chunks(2);
    let is_byte = |pair: &&str| pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(is_byte)?, 16).ok();
    pairs.map(byte).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = char::from(LETTERS[(group >> (18 - 6 * place) & 63) as usize]);
            text.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

/// The elements of a JSON list, or of an array as PostgreSQL writes it: `{a,"b c",NULL}`.
fn elements(text: &str) -> Option<Vec<Value>> {
    if text.starts_with('[') {
        let Value::List(values) = plain_json(text)? else { return None };
        return Some(values);
    }
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let (mut values, mut current, mut quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut characters = inside.chars();
    let finish = |current: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(current);
        if !std::mem::take(was_quoted) && text == "NULL" { Value::Null } else { Value::String(text) }
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' if quoted => current.extend(characters.next()),
            '"' => (quoted, was_quoted) = (!quoted, true),
            ',' if !quoted => values.push(finish(&mut current, &mut was_quoted)),
            // Arrays of arrays are not lists of texts.
            '{' | '}' if !quoted => return None,
            _ => current.push(character),
        }
    }
    if !inside.is_empty() {
        values.push(finish(&mut current, &mut was_quoted));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for (text, expected) in [
            ("007", "7"),
            ("-0", "0"),
            ("12.50", "12.5"),
            ("1e3", "1000"),
            ("-1.5E-3", "-0.0015"),
            (".5", "0.5"),
            ("5.", "5"),
        ] {
            assert_eq!(plain_number(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "x", "1e999", "--1", "1.2.3", "NaN"] {
            assert_eq!(plain_number(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_in_utc() {
        for (text, expected) in [
            ("2026-04-05 12:30:00.25+02", "2026-04-05T10:30:00.250000Z"),
            ("2026-01-01T00:15:00+00:30", "2025-12-31T23:45:00.000000Z"),
            ("2024-02-29 23:59:59", "2024-02-29T23:59:59.000000Z"),
            ("1970-01-01", "1970-01-01T00:00:00.000000Z"),
            ("86400", "1970-01-02T00:00:00.000000Z"),
            ("2026-04-05 10:30:00.1234560", "2026-04-05T10:30:00.123456Z"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["yesterday", "2026-04-05 10:30:00.1234567", "infinity", "0044-03-15 00:00:00 BC"] {
            assert_eq!(utc(text), None, "{text}");
        }
        assert_eq!(utc("2026-04-05 12:30:00 Mars"), None);
    }

    #[test]
    fn columns_become_values_of_their_type() {
        let text = |value: &str| Value::String(value.to_owned());
        let value = |kind: &ValueType, text: &str| value(&Attribute::new("a", kind.clone()), text);
        assert_eq!(value(&ValueType::Binary, "\\x68690a").unwrap(), Value::Binary("aGkK".to_owned()));
        assert_eq!(value(&ValueType::Binary, "\\x68").unwrap(), Value::Binary("aA==".to_owned()));
        assert_eq!(
            value(&ValueType::List, "{a,\"b, c\",NULL}").unwrap(),
            Value::List(vec![text("a"), text("b, c"), Value::Null])
        );
        assert_eq!(value(&ValueType::List, "[1]").unwrap(), Value::List(vec![Value::Number("1".to_owned())]));
        assert_eq!(value(&ValueType::Bool, "t").unwrap(), Value::Bool(true));
        assert!(value(&ValueType::Int, "1.5").is_err());
        assert!(value(&ValueType::Set, r#"["a", null]"#).is_err());
        for number in ["NaN", "Infinity", "-inf"] {
            assert!(value(&ValueType::Decimal, number).is_err(), "{number}");
        }
        assert!(
            value(&ValueType::Choice(vec!["a".to_owned(), "b".to_owned()].into()), "c")
                .unwrap_err()
                .contains("a, b")
        );
    }
}
