//! Places inside strings of the file: where a byte of a string's value is written, with quotes and escapes counted.

use crate::source::Span;

/// The places of the bytes of one string.
pub(super) struct Places {
    span: Span,
    /// The offset in the file of each byte of the value, and of its end.
    offsets: Vec<usize>,
}

impl Places {
    /// Reads the string at `span` of the file.
    pub fn new(file: &str, span: Span) -> Places {
        let raw = file.get(span.clone()).unwrap_or_default();
        let quote =
            ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| raw.starts_with(quote)).unwrap_or_default();
        let mut at = quote.len();
        if quote.len() == 3 {
            // A line break right after the quotes is not part of the value.
            at +=
                ["\r\n", "\n"].iter().find(|line| raw[at..].starts_with(**line)).map_or(0, |line| line.len());
        }
        let end = raw.len().saturating_sub(quote.len()).max(at);
        let mut offsets = Vec::new();
        while let Some(character) = raw.get(at..end).and_then(|rest| rest.chars().next()) {
            let (written, bytes) = match character {
                '\\' if quote.starts_with('"') => escape(&raw[at..end]),
                other => (other.len_utf8(), other.len_utf8()),
            };
            offsets.extend(std::iter::repeat_n(span.start + at, bytes));
            at += written;
        }
        offsets.push(span.start + at);
        Places { span, offsets }
    }

    /// Returns the place in the file of a part of the value.
    pub fn of(&self, inside: &Span) -> Span {
        let offset = |at: usize| self.offsets.get(at).copied().unwrap_or(self.span.end);
        let start = offset(inside.start).min(self.span.end.saturating_sub(1));
        start..offset(inside.end).max(start + 1)
    }
}

/// The length of an escape in the file, and the bytes of the value that it stands for.
fn escape(rest: &str) -> (usize, usize) {
    let digits = match rest.as_bytes().get(1) {
        Some(b'u') => 4,
        Some(b'U') => 8,
        Some(b'x') => 2,
        Some(b'\n' | b' ' | b'\r' | b'\t') => {
            // A backslash at the end of a line skips the white space that follows.
            return (1 + rest[1..].len() - rest[1..].trim_start().len(), 0);
        }
        _ => return (2.min(rest.len()), 1),
    };
    let code = rest.get(2..2 + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
    (2 + digits, code.and_then(char::from_u32).map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_counted() {
        for (file, part) in [
            ("when = \"status == 'A'\"", "status"),
            ("when = \"a == \\\"x\\\" or or\"", "or"),
            ("when = \"\"\"\na == '\\u00e9' or\"\"\"", "or"),
            ("when = '''a == 1 or'''", "or"),
        ] {
            let document: toml_edit::Document<&str> = toml_edit::Document::parse(file).unwrap();
            let item = document.as_table().get("when").unwrap();
            let (span, value) = (item.span().unwrap(), item.as_str().unwrap());
            let at = value.rfind(part).unwrap();
            let found = Places::new(file, span).of(&(at..at + part.len()));
            assert_eq!(found, file.rfind(part).unwrap()..file.rfind(part).unwrap() + part.len(), "{file}");
        }
    }
}
