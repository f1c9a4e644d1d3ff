//! The tokens of conditions and of key conditions, each with its place in the text.

use std::fmt;
use std::ops::Range;

/// The longest condition.
const MAX_BYTES: usize = 8_192;
const SYMBOLS: [&str; 13] = ["==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ","];

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name, a number or a keyword.
    Word(String),
    /// Text in quotes, without them.
    Quoted(String),
    /// An operator, a parenthesis or a comma.
    Symbol(&'static str),
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes in the text.
    pub at: Range<usize>,
}

/// A mistake in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The bytes of the text that are not understood.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Token {
    /// Returns whether it is this keyword, in any case.
    pub fn is_word(&self, keyword: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Returns whether it is this symbol.
    pub fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(own) if own == symbol)
    }
}

/// A reader of tokens.
pub struct Tokens {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
}

impl Tokens {
    /// Splits a text into tokens.
    ///
    /// # Errors
    ///
    /// Returns the first character that starts no token, or a quote that is never closed.
    pub fn new(text: &str) -> Result<Tokens, ConditionError> {
        if text.len() > MAX_BYTES {
            let message = format!("the condition has more than {MAX_BYTES} bytes");
            return Err(ConditionError { at: 0..1, message });
        }
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            if character.is_whitespace() {
                at += character.len_utf8();
                continue;
            }
            let (kind, length) = token(&text[at..], character, at)?;
            tokens.push(Token { kind, at: at..at + length });
            at += length;
        }
        Ok(Tokens { tokens, next: 0, end: text.len() })
    }

    /// Returns the next token without taking it.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next).cloned();
        self.next += usize::from(token.is_some());
        token
    }

    /// Takes the next token if it is this keyword.
    pub fn take_word(&mut self, keyword: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_word(keyword));
        self.next += usize::from(found);
        found
    }

    /// Takes the next token if it is this symbol.
    pub fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_symbol(symbol));
        self.next += usize::from(found);
        found
    }

    /// Takes this symbol, or fails.
    ///
    /// # Errors
    ///
    /// Returns what stands in its place.
    pub fn expect_symbol(&mut self, symbol: &str) -> Result<(), ConditionError> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// Returns where the next token starts, or the end of the text.
    pub fn place(&self) -> Range<usize> {
        self.peek().map_or(self.end..self.end + 1, |token| token.at.clone())
    }

    /// Returns where the last token that was taken ends.
    pub fn taken(&self) -> usize {
        self.next.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.at.end)
    }

    /// Returns the error that something else was expected here.
    pub fn unexpected(&self, wanted: &str) -> ConditionError {
        let found = match self.peek().map(|token| &token.kind) {
            None => "the condition ends here".to_owned(),
            Some(TokenKind::Word(word)) => format!("`{word}` is not understood here"),
            Some(TokenKind::Quoted(text)) => format!("'{text}' is not understood here"),
            Some(TokenKind::Symbol(symbol)) => format!("`{symbol}` is not understood here"),
        };
        ConditionError { at: self.place(), message: format!("{found}; expected {wanted}") }
    }
}

fn token(rest: &str, first: char, at: usize) -> Result<(TokenKind, usize), ConditionError> {
    if first == '\'' || first == '"' {
        return quoted(rest, first, at);
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok((TokenKind::Symbol(symbol), symbol.len()));
    }
    let ends = |character: char| character.is_whitespace() || "'\"()[],<>=!".contains(character);
    let length = rest.find(ends).unwrap_or(rest.len());
    if length == 0 {
        let message = format!("`{first}` is not understood here");
        return Err(ConditionError { at: at..at + first.len_utf8(), message });
    }
    Ok((TokenKind::Word(rest[..length].to_owned()), length))
}

/// Text in quotes; a doubled quote stands for the character itself.
fn quoted(rest: &str, quote: char, at: usize) -> Result<(TokenKind, usize), ConditionError> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((position, character)) = characters.next() {
        if character != quote {
            text.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == quote) {
            text.push(quote);
            characters.next();
        } else {
            return Ok((TokenKind::Quoted(text), position + 1));
        }
    }
    Err(ConditionError { at: at..at + 1, message: "this quote is never closed".to_owned() })
}
