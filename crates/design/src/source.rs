//! A text with a name: spans become lines, columns and an underlined excerpt.

use std::ops::Range;

/// Bytes of the source that a finding speaks about.
pub type Span = Range<usize>;

/// Where a span begins, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A model's text and the name under which messages show it.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    pub fn position(&self, offset: usize) -> Position {
        let before = &self.text[..self.floor(offset)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        Position { line, column }
    }

    /// The line of the span with carets under it:
    ///
    /// ```text
    ///   --> shop.toml:12:8
    ///    |
    /// 12 | key = ["USER#{userid}"]
    ///    |        ^^^^^^^^^^^^^^^
    /// ```
    pub fn excerpt(&self, span: &Span) -> String {
        let Position { line, column } = self.position(span.start);
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        let room = text.chars().count().saturating_sub(column - 1).max(1);
        let end = self.floor(span.end).max(self.floor(span.start));
        let wanted = self.text[self.floor(span.start)..end].lines().next().unwrap_or_default();
        let width = wanted.chars().count().clamp(1, room);
        let gutter = " ".repeat(line.to_string().len());
        let indent = " ".repeat(column - 1);
        let carets = "^".repeat(width);
        format!(
            "{gutter}--> {}:{line}:{column}\n{gutter} |\n{line} | {text}\n{gutter} | {indent}{carets}\n",
            self.name
        )
    }

    /// The nearest character boundary at or before `offset`.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
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
}
