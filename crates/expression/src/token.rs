//! Text → tokens, and the place in them that a parser has reached.
//!
//! A name starts with a letter; what is no token of the language becomes a token of one character, so
//! that every text has tokens and a syntax error can name the one that does not fit.

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

/// The tokens of a text, read one after the other.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    /// Ends with `End`.
    tokens: Vec<Token>,
    position: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(text: &'a str) -> Tokens<'a> {
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

    /// Takes the next token if it is of this kind.
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

    /// The next token does not fit. AWS shows it and, as they are written, its two neighbours.
    pub(crate) fn misfit(&self) -> Problem {
        let at = self.position;
        let here = self.tokens[at];
        let start = at.checked_sub(1).map_or(here.start, |before| self.tokens[before].start);
        let after = self.tokens.get(at + 1).filter(|token| token.kind != TokenKind::End);
        let end = match (here.kind, after) {
            // Spaces behind the last token are not shown.
            (TokenKind::End, _) => at.checked_sub(1).map_or(here.end, |before| self.tokens[before].end),
            (_, Some(after)) => after.end,
            (_, None) => here.end,
        };
        let token = if here.kind == TokenKind::End { "<EOF>" } else { self.slice(here) };
        let near = self.text.get(start..end).unwrap_or("");
        Problem::Syntax { token: token.to_owned(), near: near.to_owned() }
    }

    /// What is wrong with a text whose parentheses go deeper than any valid one's: they do not match, or
    /// a pair directly encloses another. `None`: neither, so there are too many operators between them.
    pub(crate) fn parenthesis_problem(&mut self) -> Option<Problem> {
        let mut open: Vec<usize> = Vec::new();
        let mut redundant = false;
        // The pair closed last: where it opened and closed.
        let mut closed = (usize::MAX, usize::MAX);
        for (position, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::OpenParenthesis => open.push(position),
                TokenKind::CloseParenthesis => {
                    let Some(start) = open.pop() else {
                        self.position = position;
                        return Some(self.misfit());
                    };
                    redundant |= closed == (start + 1, position.wrapping_sub(1));
                    closed = (start, position);
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            self.position = self.tokens.len() - 1;
            return Some(self.misfit());
        }
        redundant.then_some(Problem::RedundantParentheses)
    }
}

/// The kind (`None` for space) and the length of what the text begins with.
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
        Tokens::of(text).tokens.iter().map(|token| token.kind).collect()
    }

    #[test]
    fn texts_are_cut_into_tokens() {
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
    fn the_misfit_is_shown_with_its_neighbours() {
        let misfit = |text: &str, position: usize| {
            let mut tokens = Tokens::of(text);
            tokens.position = position;
            tokens.misfit().to_string()
        };
        assert_eq!(misfit("?? x", 0), "Syntax error; token: \"?\", near: \"??\"");
        assert_eq!(misfit("ADD k : one", 2), "Syntax error; token: \":\", near: \"k : one\"");
        assert_eq!(misfit("NOT #k  ", 2), "Syntax error; token: \"<EOF>\", near: \"#k\"");
        assert_eq!(misfit("a-b", 1), "Syntax error; token: \"-\", near: \"a-b\"");
        assert_eq!(misfit(" ", 0), "Syntax error; token: \"<EOF>\", near: \"\"");
        assert_eq!(misfit("f()", 2), "Syntax error; token: \")\", near: \"()\"");
    }
}
