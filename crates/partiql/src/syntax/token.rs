//! Splits a statement into tokens with their positions.

use crate::error::StatementError;
use crate::syntax::keyword::keyword;
use std::fmt;

/// The position of a token, as printed in messages: line, column and length, counted in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) length: usize,
}

impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.line, self.column, self.length)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A plain name, or one in double quotes.
    Name(String),
    Keyword(&'static str),
    Text(String),
    /// As written, without a sign.
    Number(String),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: SourceSpan,
}

/// Longer symbols come first.
const SYMBOLS: [&str; 26] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "||", "(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "?", "*",
    "+", "-", "/", "%", "=", "<", ">",
];

/// Returns the tokens of a statement; the last is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, StatementError> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
    let mut reader = Reader { rest: text, line: 1, column: 1 };
    loop {
        reader.skip_space()?;
        let (line, column) = (reader.line, reader.column);
        if reader.rest.is_empty() {
            tokens.push(Token { kind: TokenKind::End, span: SourceSpan { line, column, length: 0 } });
            return Ok(tokens);
        }
        let (kind, bytes) = first_token(reader.rest)?;
        let length = reader.rest.get(..bytes).map_or(0, |token| token.chars().count());
        reader.advance(bytes);
        tokens.push(Token { kind, span: SourceSpan { line, column, length } });
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl Reader<'_> {
    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for character in passed.chars() {
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Result<(), StatementError> {
        loop {
            let space =
                self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']).len();
            let comment = if self.rest[space..].starts_with("--") {
                self.rest[space..].find('\n').unwrap_or(self.rest.len() - space)
            } else if let Some(inside) = self.rest[space..].strip_prefix("/*") {
                inside.find("*/").ok_or_else(StatementError::untokenizable)? + 4
            } else {
                0
            };
            if space + comment == 0 {
                return Ok(());
            }
            self.advance(space + comment);
        }
    }
}

/// Returns the token that the text begins with, and its length in bytes.
fn first_token(text: &str) -> Result<(TokenKind, usize), StatementError> {
    let first = text.chars().next().unwrap_or(' ');
    match first {
        '\'' => quoted(text, '\'').map(|(content, bytes)| (TokenKind::Text(content), bytes)),
        '"' => quoted(text, '"').map(|(content, bytes)| (TokenKind::Name(content), bytes)),
        'a'..='z' | 'A'..='Z' | '_' | '$' => {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
            let bytes = run(text, is_part);
            let word = &text[..bytes];
            let kind = keyword(word).map_or_else(|| TokenKind::Name(word.to_owned()), TokenKind::Keyword);
            Ok((kind, bytes))
        }
        '0'..='9' => number(text),
        '.' if text[1..].starts_with(|digit: char| digit.is_ascii_digit()) => number(text),
        _ => match SYMBOLS.into_iter().find(|symbol| text.starts_with(symbol)) {
            Some(symbol) => Ok((TokenKind::Symbol(symbol), symbol.len())),
            None => Err(StatementError::untokenizable()),
        },
    }
}

fn run(text: &str, part: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| part(*byte)).count()
}

/// Returns the content of a quoted text, in which two quotes stand for one, and its length in bytes.
fn quoted(text: &str, quote: char) -> Result<(String, usize), StatementError> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            content.push(quote);
        } else {
            return Ok((content, at + 1));
        }
    }
    Err(StatementError::untokenizable())
}

/// Reads digits, point and exponent. An exponent that is out of range for decimals is a syntax error.
fn number(text: &str) -> Result<(TokenKind, usize), StatementError> {
    let digit = |byte: u8| byte.is_ascii_digit();
    let mut end = run(text, digit);
    let mut fraction = 0;
    if text[end..].starts_with('.') {
        fraction = run(&text[end + 1..], digit);
        end += 1 + fraction;
    }
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let digits = run(&exponent[sign..], digit);
        if digits > 0 {
            let power: i32 =
                exponent[..sign + digits].parse().map_err(|_| StatementError::untokenizable())?;
            i32::try_from(fraction as i64 - i64::from(power)).map_err(|_| StatementError::untokenizable())?;
            end += 1 + sign + digits;
        }
    }
    Ok((TokenKind::Number(text[..end].to_owned()), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).unwrap_or_default().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn texts_are_tokenized() {
        use TokenKind::*;
        assert_eq!(
            kinds("SELECT a.\"b c\" -- note\n/* and */ <<.5e1>>!='it''s'"),
            [
                Keyword("select"),
                Name("a".into()),
                Symbol("."),
                Name("b c".into()),
                Symbol("<<"),
                Number(".5e1".into()),
                Symbol(">>"),
                Symbol("!="),
                Text("it's".into()),
                End,
            ]
        );
        assert_eq!(kinds("1 e5"), [Number("1".into()), Name("e5".into()), End]);
        assert_eq!(kinds(""), [End]);
    }

    #[test]
    fn positions_are_counted_in_characters() {
        let spans: Vec<_> =
            tokens("'ä' ?\n  x").unwrap_or_default().iter().map(|t| t.span.to_string()).collect();
        assert_eq!(spans, ["1:1:3", "1:5:1", "2:3:1", "2:4:0"]);
    }

    #[test]
    fn invalid_tokens_are_rejected() {
        for text in
            ["'open", "\"open", "/* open", "a # b", "`ion`", "1e2147483648", "1.5e-2147483647", "é", "!"]
        {
            let error = tokens(text).unwrap_err().to_string();
            assert_eq!(error, "Statement wasn't well formed, can't be processed: ", "{text}");
        }
    }
}
