//! Positions of the protocol: lines and columns, in units that editor and server agree on.

use serde_json::{Value, json};

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16, which every editor supports.
    Utf16,
}

impl Encoding {
    /// The simplest encoding that the editor offers.
    pub fn offered(encodings: &Value) -> Encoding {
        let utf8 = encodings.as_array().is_some_and(|offered| offered.iter().any(|one| one == "utf-8"));
        if utf8 { Encoding::Utf8 } else { Encoding::Utf16 }
    }

    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
        }
    }

    fn width(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
        }
    }

    /// The offset of a position; one beyond the end of its line is at the end.
    pub fn offset(self, text: &str, position: &Value) -> usize {
        let number =
            |key: &str| position[key].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let (line, column) = (number("line"), number("character"));
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let Some(start) = std::iter::once(0).chain(starts).nth(line) else { return text.len() };
        let mut units = 0;
        for (at, character) in text[start..].char_indices() {
            if units >= column || character == '\n' {
                return start + at;
            }
            units += self.width(character);
        }
        text.len()
    }

    /// The position of an offset.
    pub fn position(self, text: &str, offset: usize) -> Value {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column: usize = before[start..].chars().map(|character| self.width(character)).sum();
        json!({ "line": line, "character": column })
    }

    /// The range of a span.
    pub fn range(self, text: &str, span: &std::ops::Range<usize>) -> Value {
        json!({ "start": self.position(text, span.start), "end": self.position(text, span.end.max(span.start)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_offsets_are_inverse() {
        let text = "a = \"é𝄞\"\n\nb = 'x'";
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (offset, _) in text.char_indices() {
                assert_eq!(encoding.offset(text, &encoding.position(text, offset)), offset);
            }
            assert_eq!(encoding.offset(text, &json!({ "line": 99, "character": 0 })), text.len());
            assert_eq!(
                encoding.offset(text, &json!({ "line": 1, "character": 9 })),
                text.find("b =").unwrap() - 1
            );
        }
        assert_eq!(Encoding::Utf16.position(text, text.find('\n').unwrap())["character"], 9);
    }
}
