//! A position in the tokens of a statement.

use super::tokens::{Kind, Token};

#[derive(Clone)]
pub(super) struct Cursor<'a> {
    pub tokens: &'a [Token],
}

impl<'a> Cursor<'a> {
    pub fn new(tokens: &'a [Token]) -> Cursor<'a> {
        Cursor { tokens }
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.first()
    }

    pub fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Returns whether the next token is this word.
    pub fn sees(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is(word))
    }

    /// Takes the next token if it is this word.
    pub fn eat(&mut self, word: &str) -> bool {
        let sees = self.sees(word);
        if sees {
            self.next();
        }
        sees
    }

    /// Takes the next tokens if they are these words.
    pub fn eat_all(&mut self, words: &[&str]) -> bool {
        let sees = self.tokens.len() >= words.len()
            && words.iter().zip(self.tokens).all(|(word, token)| token.is(word));
        if sees {
            self.tokens = &self.tokens[words.len()..];
        }
        sees
    }

    /// A name; of `public.users`, the last part. SQLite takes a text in single quotes where only a name can be.
    pub fn name(&mut self) -> Option<String> {
        let is_name =
            |token: &Token| token.name().is_some() || (token.kind == Kind::Text && !token.text.is_empty());
        let mut name = self.peek().filter(|token| is_name(token))?.text.clone();
        self.next();
        while self.sees(".") && self.tokens.get(1).is_some_and(is_name) {
            self.next();
            name = self.next()?.text.clone();
        }
        Some(name)
    }

    /// A type's name, with its length and what belongs to it: `text`, `varchar(20)`, `timestamp with time zone`, `uuid[]`. Returns its first word.
    pub fn type_name(&mut self) -> Option<String> {
        let name = self.name()?;
        let more = ["PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "UNSIGNED", "SIGNED"];
        while self.group().is_some() || more.iter().any(|word| self.eat(word)) {}
        while self.eat("[") {
            while self.peek().is_some() && !self.eat("]") {
                self.next();
            }
        }
        Some(name.to_lowercase())
    }

    /// The tokens inside of the parentheses that open here.
    pub fn group(&mut self) -> Option<&'a [Token]> {
        if !self.sees("(") {
            return None;
        }
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            depth += i32::from(token.is("(")) - i32::from(token.is(")"));
            if depth == 0 {
                let inside = &self.tokens[1..at];
                self.tokens = &self.tokens[at + 1..];
                return Some(inside);
            }
        }
        let inside = &self.tokens[1..];
        self.tokens = &[];
        Some(inside)
    }

    /// The names in the parentheses that open here: columns, without their order or length.
    pub fn names(&mut self) -> Vec<String> {
        let inside = self.group().unwrap_or_default();
        let mut names = Vec::new();
        for part in split_commas(inside) {
            names.extend(Cursor::new(part).name());
        }
        names
    }
}

/// Splits tokens at the commas outside of parentheses and brackets.
pub(super) fn split_commas(tokens: &[Token]) -> Vec<&[Token]> {
    split(tokens, |token| token.is(","))
}

/// Splits tokens where `at` holds, outside of parentheses and brackets.
pub(super) fn split(tokens: &[Token], at: impl Fn(&Token) -> bool) -> Vec<&[Token]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (number, token) in tokens.iter().enumerate() {
        depth += i32::from(token.is("(") || token.is("[")) - i32::from(token.is(")") || token.is("]"));
        if depth == 0 && at(token) {
            parts.push(&tokens[start..number]);
            start = number + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the texts in single quotes among tokens.
pub(super) fn literals(tokens: &[Token]) -> Vec<String> {
    tokens.iter().filter(|token| token.kind == Kind::Text).map(|token| token.text.clone()).collect()
}
