//! The text of a model: byte spans become lines, columns and underlined excerpts.

use std::ops::Range;

/// A byte range of the source that a finding refers to.
pub type Span = Range<usize>;

/// A position in the source, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The distance in bytes between the offsets at which characters are counted in advance.
const STEP: usize = 1_024;
/// The number of characters that an excerpt shows of a longer line.
const SHOWN: usize = 160;

/// The text of a model and the name that messages show for it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name, usually that of the file.
    pub name: String,
    /// The text.
    pub text: String,
    /// The offset of each line.
    lines: Vec<usize>,
    /// The number of characters that start before every [`STEP`]th byte.
    characters: Vec<usize>,
}

impl Source {
    /// Creates a source.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let (name, text) = (name.into(), text.into());
        let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(line_ends.map(|(at, _)| at + 1)).collect();
        let count = |bytes: &[u8]| bytes.iter().filter(|byte| !is_continuation(**byte)).count();
        let mut total = 0;
        let steps = text.as_bytes().chunks(STEP).map(|chunk| {
            total += count(chunk);
            total
        });
        let characters = std::iter::once(0).chain(steps).collect();
        Source { name, text, lines, characters }
    }

    /// Returns the number of characters that start before a byte.
    fn characters_before(&self, offset: usize) -> usize {
        let start = offset / STEP * STEP;
        let rest = self.text.as_bytes()[start..offset].iter();
        self.characters[offset / STEP] + rest.filter(|byte| !is_continuation(**byte)).count()
    }

    /// Returns the line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.partition_point(|start| *start <= offset);
        let column = self.characters_before(offset) - self.characters_before(self.lines[line - 1]) + 1;
        Position { line, column }
    }

    /// Returns the line of the span with carets under it:
    ///
    /// ```text
    ///   --> shop.toml:12:8
    ///    |
    /// 12 | key = ["USER#{userid}"]
    ///    |        ^^^^^^^^^^^^^^^
    /// ```
    pub fn excerpt(&self, span: &Span) -> String {
        let Position { line, column } = self.position(span.start);
        let start = self.floor(span.start);
        let (before, is_cut_before) = self.before_on_line(start, self.lines[line - 1]);
        let after = &self.text[start..];
        let after = &after[..after.char_indices().nth(SHOWN).map_or(after.len(), |(at, _)| at)];
        let rest = after.lines().next().unwrap_or_default();
        let is_cut_after = rest.len() == after.len() && start + after.len() < self.text.len();
        let available = rest.chars().count().max(1);
        let end = self.floor(span.end).max(start).min(start + rest.len());
        let width = self.text[start..end].chars().count().clamp(1, available);
        let gutter = " ".repeat(line.to_string().len());
        let [cut_before, cut_after] = [is_cut_before, is_cut_after].map(|cut| if cut { "…" } else { "" });
        let indent = " ".repeat(before.chars().count() + usize::from(is_cut_before));
        let carets = "^".repeat(width);
        format!(
            "{gutter}--> {}:{line}:{column}\n{gutter} |\n{line} | {cut_before}{before}{rest}{cut_after}\n{gutter} | {indent}{carets}\n",
            self.name
        )
    }

    /// Returns the end of the line's text before an offset, and whether it is cut.
    fn before_on_line(&self, offset: usize, line_start: usize) -> (&str, bool) {
        let before = &self.text[line_start..offset];
        match before.char_indices().nth_back(SHOWN / 2) {
            Some((at, _)) => (&before[at..], at > 0),
            None => (before, false),
        }
    }

    /// Returns the nearest character boundary at or before `offset`.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// Returns whether a byte continues a character that started before it.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_underlines_the_span() {
        let source = Source::new("a.toml", "one\nkéy = 2\n");
        assert_eq!(source.position(9), Position { line: 2, column: 5 });
        assert_eq!(source.excerpt(&(4..8)), " --> a.toml:2:1\n  |\n2 | kéy = 2\n  | ^^^\n");
    }

    #[test]
    fn positions_match_a_plain_count() {
        let text: String = (0..3_000).map(|n| ["a", "é", "\n", "€", "\r\n", "𝄞"][n * n % 6]).collect();
        let source = Source::new("a.toml", text.clone());
        for offset in (0..text.len() + 2).step_by(7) {
            let mut floor = offset.min(text.len());
            while !text.is_char_boundary(floor) {
                floor -= 1;
            }
            let before = &text[..floor];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
            assert_eq!(source.position(offset), Position { line, column }, "{offset}");
        }
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        let source = Source::new("a.toml", format!("{}bad{}\nnext", "é".repeat(50_000), "x".repeat(50_000)));
        let excerpt = source.excerpt(&(100_000..100_003));
        assert!(
            excerpt.contains(":1:50001\n") && excerpt.contains("ébadx") && excerpt.len() < 1_000,
            "{excerpt}"
        );
        let lines: Vec<&str> = excerpt.lines().collect();
        let carets = lines[3].chars().position(|c| c == '^').unwrap_or_default();
        assert_eq!(lines[2].chars().skip(carets).take(3).collect::<String>(), "bad");
    }
}
