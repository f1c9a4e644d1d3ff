//! Numbers, sizes and lists as people read them.

use std::borrow::Cow;

/// Joins names: `a`, `a and b`, `a, b and c`.
pub fn list<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [start @ .., last] => {
            let start: Vec<&str> = start.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", start.join(", "), last.as_ref())
        }
    }
}

/// Returns a text as a log or a terminal may show it: characters that would start a line, move the cursor or turn the direction of writing are
/// escaped.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => shown.extend(letter.escape_default()),
            _ if is_hidden(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Returns a text of several lines as [`printable`] does, with its lines and tabs as they are.
pub fn printable_lines(text: &str) -> String {
    let is_layout = |letter: char| matches!(letter, '\n' | '\t');
    let lines = text.split_inclusive(is_layout).map(|line| {
        let (own, end) = line.split_at(line.trim_end_matches(is_layout).len());
        printable(own).into_owned() + end
    });
    lines.collect()
}

/// Formats a count: `1 item`, `2 items`.
pub fn plural(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Formats a number: `12`, `4.5`, `1.2 million`.
pub fn format_number(number: f64) -> String {
    let short = |number: f64| {
        let text = format!("{number:.1}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    // The sum of an empty iterator is negative zero.
    match number + 0.0 {
        n if n >= 1e9 => format!("{} billion", short(n / 1e9)),
        n if n >= 1e6 => format!("{} million", short(n / 1e6)),
        n if n >= 1e4 => format!("{} thousand", short(n / 1e3)),
        n => short(n),
    }
}

/// Formats a number with its unit: `1 item`, `2.5 read units`.
pub fn format_quantity(number: f64, noun: &str) -> String {
    let text = format_number(number);
    let plural = if text == "1" { "" } else { "s" };
    format!("{text} {noun}{plural}")
}

/// Formats a size: `512 B`, `3.4 KB`, `5 MB`.
pub fn format_bytes(bytes: f64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{} {name}", format_number(bytes / unit)),
        None => format!("{bytes:.0} B"),
    }
}

/// Returns the text with its first letter in upper case.
pub fn upper_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Returns the text with its first letter in lower case.
pub fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// Formats a count with separators: `1,204`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined() {
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(plural(1, "item"), "1 item");
    }

    #[test]
    fn what_would_forge_a_line_is_escaped() {
        assert_eq!(printable("USER#é / a"), "USER#é / a");
        assert_eq!(
            printable("a\r\n\u{1b}[2J\u{85}\u{2028}\u{202e}b"),
            "a\\r\\n\\u{1b}[2J\\u{85}\\u{2028}\\u{202e}b"
        );
        assert_eq!(printable_lines("a\t\u{1b}b\n\n\rc"), "a\t\\u{1b}b\n\n\\rc");
    }
}
