//! Cuts a key into pieces: at the characters that separate, but not inside of values of a known form, such as times and UUIDs.

use super::style::is_upper_word;
use crate::model::text_form::{is_date, is_ksuid, is_ulid, is_uuid, time_form};

/// Characters that hardly occur in values and therefore separate.
pub(super) const STRONG: [char; 3] = ['#', '|', '~'];
/// Characters that separate parts in some keys and belong to values in others.
pub(super) const WEAK: [char; 5] = ['/', ':', '_', '-', '.'];
/// Keys made of parts have no more separators.
const MAX_STRONG: usize = 24;
/// The lengths of times with the precision of hours to microseconds, with their zone, the longest first.
const TIME_LENGTHS: [usize; 13] = [32, 29, 27, 26, 25, 24, 23, 22, 20, 19, 17, 16, 13];

/// A piece of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The separators before it.
    pub mark: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it is a value by its form.
    pub is_value: bool,
}

/// Whether a text has so many separators that it is a value, and not a key made of parts.
pub(super) fn is_endless(text: &str) -> bool {
    text.matches(STRONG).nth(MAX_STRONG).is_some()
}

/// Cuts a text into pieces.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    if is_endless(text) {
        return vec![Piece { mark: "", text, is_value: true }];
    }
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut rest = text;
    loop {
        if let Some(last) = pieces.last_mut().filter(|last| !last.is_value) {
            let end = text.len() - rest.len();
            let own = end + tail_length(&text[..end], rest);
            last.text = &text[end - last.text.len()..own];
            rest = &text[own..];
        }
        let (mark, after) = rest.split_at(mark_length(rest));
        let (piece, is_value) = first_piece(after);
        if piece.is_empty() && mark.is_empty() && !pieces.is_empty() {
            return pieces;
        }
        pieces.push(Piece { mark, text: piece, is_value });
        rest = &after[piece.len()..];
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// The length of the separators that a text starts with. An identifier may start with a weak one: `USER#-N8yMiR3`.
fn mark_length(text: &str) -> usize {
    let length = text.find(|c| !is_mark(c)).unwrap_or(text.len());
    let Some(last) = text[..length].rfind(STRONG) else { return length };
    let segment = text[length..].split(STRONG).next().unwrap_or_default();
    if segment.is_empty() || is_upper_word(segment) { length } else { last + 1 }
}

/// The length of the separators before the next strong one that end an identifier: `GzCGTMxSgUKyI2XR7ESC_#MSG`. Those behind a word separate: `state_#city`.
fn tail_length(before: &str, rest: &str) -> usize {
    let length = rest.find(|c| !WEAK.contains(&c)).unwrap_or(rest.len());
    if length == 0 || !rest[length..].starts_with(STRONG) {
        return 0;
    }
    let segment = before.rsplit(STRONG).next().unwrap_or_default();
    let has = |fits: fn(char) -> bool| segment.contains(fits);
    let is_mixed = has(|c| c.is_ascii_lowercase()) && has(|c| c.is_ascii_uppercase());
    if is_mixed || has(|c| c.is_ascii_digit()) { length } else { 0 }
}

/// Returns whether a character separates parts of keys.
pub(super) fn is_mark(character: char) -> bool {
    STRONG.contains(&character) || WEAK.contains(&character)
}

/// Returns whether separators hardly occur in values.
pub(super) fn is_strong(mark: &str) -> bool {
    mark.contains(STRONG)
}

/// The piece that a text without leading separators starts with, and whether it is a value by its form.
fn first_piece(text: &str) -> (&str, bool) {
    if let Some(length) = value_length(text) {
        return (&text[..length], true);
    }
    let start = text.find(|c| !WEAK.contains(&c)).unwrap_or(text.len());
    let end = text[start..].find(is_mark).map_or(text.len(), |end| start + end);
    if text[..end].contains('@') {
        return (&text[..end + domain_length(&text[end..])], true);
    }
    // A word may be followed by a value without a separator: `ORDER01ARZ3…`.
    let letters = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()).min(24);
    let starts = (1..=letters).filter(|start| text.is_char_boundary(*start));
    let word = starts.filter(|start| value_length(&text[*start..]).is_some()).max();
    match word {
        Some(word) if word <= end => (&text[..word], false),
        _ => (&text[..end], false),
    }
}

/// The length of the rest of a domain, up to its last label: `.co-op.example` of `.co-op.example-7`.
fn domain_length(rest: &str) -> usize {
    let is_other = |c: char| is_mark(c) && !".-".contains(c);
    let domain = &rest[..rest.find(is_other).unwrap_or(rest.len())];
    let Some(dot) = domain.rfind('.') else { return 0 };
    domain[dot + 1..].find(is_mark).map_or(domain.len(), |end| dot + 1 + end)
}

/// The length of the value of a known form that a text starts with.
fn value_length(text: &str) -> Option<usize> {
    let first = text.as_bytes().first()?;
    let ends = |length: &usize| {
        let (value, rest) = text.split_at_checked(*length).unwrap_or_default();
        !value.is_empty() && (rest.is_empty() || rest.starts_with(is_mark))
    };
    let start = |length: usize| text.get(..length).unwrap_or_default();
    if is_uuid(start(36)) {
        return Some(36);
    }
    if first.is_ascii_digit() {
        let is_time =
            |length: &usize| is_time(start(*length)) && (ends(length) || start(*length).ends_with('Z'));
        if let Some(length) = TIME_LENGTHS.into_iter().find(is_time) {
            return Some(length);
        }
        if is_date(start(10)) && !text[10..].starts_with(|c: char| c.is_ascii_digit()) {
            return Some(10);
        }
        if ends(&7) && is_date(&format!("{}-01", start(7))) {
            return Some(7);
        }
    }
    let is_mixed = |text: &str| text.contains(|c: char| c.is_ascii_lowercase()) || text.starts_with('0');
    let is_id = |length: &usize| match length {
        26 => is_ulid(start(26)),
        _ => {
            is_ksuid(start(27)) && text[..27].contains(|c: char| c.is_ascii_digit()) && is_mixed(&text[..27])
        }
    };
    [26, 27].into_iter().find(|length| ends(length) && is_id(length))
}

/// Returns whether a text is a time, with or without its zone, of hours or more precise.
fn is_time(text: &str) -> bool {
    let zoned = |text: &str| time_form(text).is_some();
    zoned(text) || zoned(&format!("{text}Z")) || (text.len() == 13 && zoned(&format!("{text}:00Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        pieces(text)
            .iter()
            .flat_map(|piece| [piece.mark, piece.text])
            .filter(|text| !text.is_empty())
            .collect()
    }

    #[test]
    fn values_of_a_known_form_are_not_cut() {
        let (ulid, uuid) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "697ddd52-6879-4fce-b3c4-98dea5b7fb5b");
        for (text, expected) in [
            ("ORDER#o1", vec!["ORDER", "#", "o1"]),
            ("#META", vec!["#", "META"]),
            ("PLACE#", vec!["PLACE", "#"]),
            ("USER#-N8y_x", vec!["USER", "#", "-N8y", "_", "x"]),
            ("USER#_META", vec!["USER", "#_", "META"]),
            ("", vec![]),
            ("kettle-1", vec!["kettle", "-", "1"]),
            ("at-2026-04-05T10:30:00Z-x", vec!["at", "-", "2026-04-05T10:30:00Z", "-", "x"]),
            ("2026-04-05T10:30:00.123Z", vec!["2026-04-05T10:30:00.123Z"]),
            ("2026-04-05T10:30:00+02:00#x", vec!["2026-04-05T10:30:00+02:00", "#", "x"]),
            ("2026-04-05T10:30:00", vec!["2026-04-05T10:30:00"]),
            ("2026-04-05-7", vec!["2026-04-05", "-", "7"]),
            ("2026-04_x", vec!["2026-04", "_", "x"]),
            ("EMAIL:u@corp.example:x", vec!["EMAIL", ":", "u@corp.example", ":", "x"]),
            ("u.v-w@my-corp.co.example-x", vec!["u", ".", "v", "-", "w@my-corp.co.example", "-", "x"]),
            ("u@host-x", vec!["u@host", "-", "x"]),
            (&format!("org_{uuid}_{ulid}"), vec!["org", "_", uuid, "_", ulid]),
            (&format!("USER{ulid}"), vec!["USER", ulid]),
            (&format!("USER{uuid}"), vec!["USER", uuid]),
            (&format!("at2026-04-05T10:30:00Z{ulid}"), vec!["at", "2026-04-05T10:30:00Z", ulid]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }
}
