//! The tokens of an expression, with their positions.

use super::ExpressionError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Alias,
    Placeholder,
    Number,
    Symbol,
    End,
}

pub struct Tokens<'a> {
    text: &'a str,
    tokens: Vec<(Kind, usize, usize)>,
    position: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Result<Tokens<'a>, ExpressionError> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            if first.is_whitespace() {
                at += first.len_utf8();
                continue;
            }
            let rest = &text[at + first.len_utf8()..];
            let (kind, length) = match first {
                '#' | ':' => (if first == '#' { Kind::Alias } else { Kind::Placeholder }, 1 + word(rest)),
                '0'..='9' => (Kind::Number, text[at..].bytes().take_while(u8::is_ascii_digit).count()),
                '<' if rest.starts_with(['=', '>']) => (Kind::Symbol, 2),
                '>' if rest.starts_with('=') => (Kind::Symbol, 2),
                '=' | '<' | '>' | '+' | '-' | ',' | '(' | ')' | '.' | '[' | ']' => (Kind::Symbol, 1),
                _ if first.is_ascii_alphabetic() || first == '_' => (Kind::Word, word(&text[at..])),
                _ => {
                    let message = match first {
                        '\'' | '"' => {
                            "values stand behind placeholders: write :value instead of quoted text".to_owned()
                        }
                        _ => format!("`{first}` is not part of an expression"),
                    };
                    return Err(ExpressionError { at, message });
                }
            };
            if length == 1 && matches!(first, '#' | ':') {
                return Err(ExpressionError { at, message: format!("`{first}` needs a name behind it") });
            }
            tokens.push((kind, at, at + length));
            at += length;
        }
        Ok(Tokens { text, tokens, position: 0 })
    }

    pub fn kind(&self) -> Kind {
        self.tokens.get(self.position).map_or(Kind::End, |(kind, ..)| *kind)
    }

    /// The text of the current token; empty at the end.
    pub fn text(&self) -> &'a str {
        self.tokens.get(self.position).map_or("", |(_, start, end)| &self.text[*start..*end])
    }

    pub fn at(&self) -> usize {
        self.tokens.get(self.position).map_or(self.text.len(), |(_, start, _)| *start)
    }

    /// The text of the current token; moves on to the next.
    pub fn advance(&mut self) -> &'a str {
        let text = self.text();
        self.position += 1;
        text
    }

    /// Moves on if the current token is this symbol, or this word in any case.
    pub fn take(&mut self, wanted: &str) -> bool {
        let found = self.is(wanted);
        self.position += usize::from(found);
        found
    }

    pub fn is(&self, wanted: &str) -> bool {
        matches!(self.kind(), Kind::Symbol | Kind::Word) && self.text().eq_ignore_ascii_case(wanted)
    }

    /// Whether the next token but one is this symbol.
    pub fn follows(&self, wanted: &str) -> bool {
        let next = self.tokens.get(self.position + 1);
        next.is_some_and(|(_, start, end)| &self.text[*start..*end] == wanted)
    }
}

fn word(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}
