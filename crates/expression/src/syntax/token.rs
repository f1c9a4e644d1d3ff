//! Tokens of an expression, and a cursor over them.
//!
//! A name starts with a letter. A character that begins no token of the language becomes an `Unknown` token,
//! so that every text can be tokenized and a syntax error can name the unexpected token.

use crate::error::Problem;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    /// `#n`
    NamePlaceholder,
    /// `:v`
    ValuePlaceholder,
    Number,
    And,
    Or,
    Not,
    Between,
    In,
    Set,
    Remove,
    Add,
    Delete,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Comma,
    Dot,
    Plus,
    Minus,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    start: usize,
    end: usize,
}

/// A cursor over the tokens of a text.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    /// Ends with `End`.
    tokens: Vec<Token>,
    position: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Tokens<'a> {
        let mut tokens = Vec::with_capacity(text.len() / 3 + 2);
        let mut start = 0;
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            let (kind, length) = first_token(rest);
            if let Some(kind) = kind {
                tokens.push(Token { kind, start, end: start + length });
            }
            start += length;
        }
        tokens.push(Token { kind: TokenKind::End, start: text.len(), end: text.len() });
        Tokens { text, tokens, position: 0 }
    }

    pub(crate) fn peek(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    /// The token after the next one.
    pub(crate) fn peek_second(&self) -> TokenKind {
        self.tokens.get(self.position + 1).map_or(TokenKind::End, |token| token.kind)
    }

    pub(crate) fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    /// Consumes the next token if it is of this kind.
    pub(crate) fn accept(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// The text of the next token.
    pub(crate) fn text(&self) -> &'a str {
        self.slice(self.tokens[self.position])
    }

    fn slice(&self, token: Token) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or("")
    }

    /// Returns the syntax error for the next token. AWS shows it and its two neighbours as written.
    pub(crate) fn unexpected_token(&self) -> Problem {
        let at = self.position;
        let here = self.tokens[at];
        let start = at.checked_sub(1).map_or(here.start, |before| self.tokens[before].start);
        let after = self.tokens.get(at + 1).filter(|token| token.kind != TokenKind::End);
        let end = match (here.kind, after) {
            // Spaces after the last token are not shown.
            (TokenKind::End, _) => at.checked_sub(1).map_or(here.end, |before| self.tokens[before].end),
            (_, Some(after)) => after.end,
            (_, None) => here.end,
        };
        let token = if here.kind == TokenKind::End { "<EOF>" } else { self.slice(here) };
        let near = self.text.get(start..end).unwrap_or("");
        Problem::Syntax { token: token.to_owned(), near: near.to_owned() }
    }

    /// Returns the problem of a text whose parentheses are nested deeper than in any valid one: they do not match,
    /// or a pair directly encloses another. `None` if neither is the case: then there are too many operators.
    pub(crate) fn parenthesis_problem(&mut self) -> Option<Problem> {
        let mut open: Vec<usize> = Vec::new();
        let mut redundant = false;
        // The positions of the most recently closed pair.
        let mut closed = (usize::MAX, usize::MAX);
        for (position, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::OpenParenthesis => open.push(position),
                TokenKind::CloseParenthesis => {
                    let Some(start) = open.pop() else {
                        self.position = position;
                        return Some(self.unexpected_token());
                    };
                    redundant |= closed == (start + 1, position.wrapping_sub(1));
                    closed = (start, position);
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            self.position = self.tokens.len() - 1;
            return Some(self.unexpected_token());
        }
        redundant.then_some(Problem::RedundantParentheses)
    }
}

/// The kind (`None` for space) and the length of the first token.
fn first_token(text: &str) -> (Option<TokenKind>, usize) {
    let bytes = text.as_bytes();
    let run = |from: usize, part: fn(u8) -> bool| {
        from + bytes[from..].iter().take_while(|&&byte| part(byte)).count()
    };
    let first = bytes.first().copied().unwrap_or(b' ');
    match first {
        b' ' | b'\t' | b'\r' | b'\n' => (None, 1),
        b'a'..=b'z' | b'A'..=b'Z' => {
            let length = run(1, is_name_part);
            (Some(word(&text[..length])), length)
        }
        b'0'..=b'9' => (Some(TokenKind::Number), run(1, |byte| byte.is_ascii_digit())),
        b'#' | b':' => match run(1, is_name_part) {
            1 => (Some(TokenKind::Unknown), 1),
            length if first == b'#' => (Some(TokenKind::NamePlaceholder), length),
            length => (Some(TokenKind::ValuePlaceholder), length),
        },
        _ => {
            let (kind, length) = symbol(text);
            (Some(kind), length)
        }
    }
}

fn is_name_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word(text: &str) -> TokenKind {
    const KEYWORDS: [(&str, TokenKind); 9] = [
        ("AND", TokenKind::And),
        ("OR", TokenKind::Or),
        ("NOT", TokenKind::Not),
        ("BETWEEN", TokenKind::Between),
        ("IN", TokenKind::In),
        ("SET", TokenKind::Set),
        ("REMOVE", TokenKind::Remove),
        ("ADD", TokenKind::Add),
        ("DELETE", TokenKind::Delete),
    ];
    let keyword = KEYWORDS.iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(text));
    keyword.map_or(TokenKind::Name, |(_, kind)| *kind)
}

fn symbol(text: &str) -> (TokenKind, usize) {
    let two = match text.as_bytes() {
        [b'<', b'>', ..] => Some(TokenKind::NotEqual),
        [b'<', b'=', ..] => Some(TokenKind::LessOrEqual),
        [b'>', b'=', ..] => Some(TokenKind::GreaterOrEqual),
        _ => None,
    };
    if let Some(kind) = two {
        return (kind, 2);
    }
    let first = text.chars().next().unwrap_or(' ');
    let kind = match first {
        '(' => TokenKind::OpenParenthesis,
        ')' => TokenKind::CloseParenthesis,
        '[' => TokenKind::OpenBracket,
        ']' => TokenKind::CloseBracket,
        ',' => TokenKind::Comma,
        '.' => TokenKind::Dot,
        '+' => TokenKind::Plus,
        '-' => TokenKind::Minus,
        '=' => TokenKind::Equal,
        '<' => TokenKind::Less,
        '>' => TokenKind::Greater,
        _ => TokenKind::Unknown,
    };
    (kind, first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        Tokens::new(text).tokens.iter().map(|token| token.kind).collect()
    }

    #[test]
    fn texts_are_tokenized() {
        use TokenKind::*;
        assert_eq!(
            kinds("a_1 <>#n\n:v[10].b >= ("),
            [
                Name,
                NotEqual,
                NamePlaceholder,
                ValuePlaceholder,
                OpenBracket,
                Number,
                CloseBracket,
                Dot,
                Name,
                GreaterOrEqual,
                OpenParenthesis,
                End
            ]
        );
        assert_eq!(
            kinds("anD android sEt # : _a ü"),
            [And, Name, Set, Unknown, Unknown, Unknown, Name, Unknown, End]
        );
        assert_eq!(kinds(""), [End]);
    }

    #[test]
    fn the_unexpected_token_is_shown_with_its_neighbours() {
        let unexpected = |text: &str, position: usize| {
            let mut tokens = Tokens::new(text);
            tokens.position = position;
            tokens.unexpected_token().to_string()
        };
        assert_eq!(unexpected("?? x", 0), "Syntax error; token: \"?\", near: \"??\"");
        assert_eq!(unexpected("ADD k : one", 2), "Syntax error; token: \":\", near: \"k : one\"");
        assert_eq!(unexpected("NOT #k  ", 2), "Syntax error; token: \"<EOF>\", near: \"#k\"");
        assert_eq!(unexpected("a-b", 1), "Syntax error; token: \"-\", near: \"a-b\"");
        assert_eq!(unexpected(" ", 0), "Syntax error; token: \"<EOF>\", near: \"\"");
        assert_eq!(unexpected("f()", 2), "Syntax error; token: \")\", near: \"()\"");
    }
}
