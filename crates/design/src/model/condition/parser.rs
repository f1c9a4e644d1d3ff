//! Parses conditions: `status in ('PENDING', 'PAID') and not (total < 10 or exists(refund))`.

use super::lexer::{ConditionError, TokenKind, Tokens};
use super::{Comparator, Comparison, Condition, Constant, Places, Test};
use crate::model::decimal::Decimal;
use crate::template::is_in_field_name;

/// The deepest nesting of parentheses and `not`.
const MAX_DEPTH: usize = 32;
/// The most tests of a condition, and the most values of `in`.
const MAX_TESTS: usize = 100;
pub(super) const COMPARATORS: [(&str, Comparator); 8] = [
    ("==", Comparator::Equal),
    ("=", Comparator::Equal),
    ("!=", Comparator::Differs),
    ("<>", Comparator::Differs),
    ("<", Comparator::Less),
    ("<=", Comparator::LessOrEqual),
    (">", Comparator::Greater),
    (">=", Comparator::GreaterOrEqual),
];
const KEYWORDS: [&str; 6] = ["and", "or", "not", "in", "between", "is"];

impl Condition {
    /// Parses a condition; an empty text always holds.
    ///
    /// # Errors
    ///
    /// Returns what is not understood, and where.
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        let mut parser = Parser { tokens: Tokens::new(text)?, tests: 0 };
        if parser.tokens.peek().is_none() {
            return Ok(Condition::default());
        }
        let condition = parser.any(0)?;
        match parser.tokens.peek() {
            None => Ok(condition),
            Some(_) => Err(parser.tokens.unexpected("`and`, `or` or the end")),
        }
    }
}

struct Parser {
    tokens: Tokens,
    tests: usize,
}

impl Parser {
    fn any(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.all(depth)?];
        while self.tokens.take_word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.one(depth)?];
        while self.tokens.take_word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        if depth > MAX_DEPTH {
            let message = format!("the condition is nested more than {MAX_DEPTH} deep");
            return Err(ConditionError { at: self.tokens.place(), message });
        }
        if self.tokens.take_word("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.tokens.take_symbol("(") {
            let inside = self.any(depth + 1)?;
            self.tokens.expect_symbol(")")?;
            return Ok(inside);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Condition, ConditionError> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            let message = format!("the condition has more than {MAX_TESTS} tests");
            return Err(ConditionError { at: self.tokens.place(), message });
        }
        let at = self.tokens.place();
        let name = self.attribute()?;
        if self.tokens.take_symbol("(") {
            return self.function(&name, at);
        }
        let negated = self.tokens.take_word("not");
        let values = self.tokens.place().start;
        let comparison = if self.tokens.take_word("in") {
            Comparison::Among(self.list()?)
        } else if self.tokens.take_word("between") {
            let from = self.constant()?;
            if !self.tokens.take_word("and") {
                return Err(self.tokens.unexpected("`and` and the upper bound"));
            }
            Comparison::Between(from, self.constant()?)
        } else if negated {
            return Err(self.tokens.unexpected("`in` or `between` after `not`"));
        } else {
            let comparator = COMPARATORS.iter().find(|(symbol, _)| self.tokens.take_symbol(symbol));
            let Some((_, comparator)) = comparator else {
                return Err(self.tokens.unexpected("==, !=, <, <=, >, >=, in or between"));
            };
            Comparison::Is(*comparator, self.constant()?)
        };
        let places = Places { attribute_at: at, values_at: values..self.tokens.taken() };
        let test = Condition::Test(Test { attribute: name, comparison, places });
        Ok(if negated { Condition::Not(Box::new(test)) } else { test })
    }

    /// The rest of `exists(…)` and the like, whose name stands at `at`.
    fn function(&mut self, name: &str, at: std::ops::Range<usize>) -> Result<Condition, ConditionError> {
        let known =
            ["exists", "missing", "begins_with", "contains", "attribute_exists", "attribute_not_exists"];
        let Some(function) = known.iter().find(|known| name.eq_ignore_ascii_case(known)) else {
            let message = format!(
                "`{name}` is not a function; there are exists(a), missing(a), begins_with(a, 'x') and contains(a, 'x')"
            );
            return Err(ConditionError { at, message });
        };
        let at = self.tokens.place();
        let attribute = self.attribute()?;
        let values = self.tokens.place().start;
        let comparison = match *function {
            "begins_with" => Comparison::BeginsWith(self.argument()?),
            "contains" => Comparison::Contains(self.argument()?),
            _ => Comparison::Exists,
        };
        let places = Places { attribute_at: at, values_at: values..self.tokens.taken() };
        self.tokens.expect_symbol(")")?;
        let test = Condition::Test(Test { attribute, comparison, places });
        let negated = matches!(*function, "missing" | "attribute_not_exists");
        Ok(if negated { Condition::Not(Box::new(test)) } else { test })
    }

    /// A comma and a text.
    fn argument(&mut self) -> Result<String, ConditionError> {
        self.tokens.expect_symbol(",")?;
        match self.tokens.peek().map(|token| token.kind.clone()) {
            Some(TokenKind::Quoted(text)) => {
                self.tokens.take();
                Ok(text)
            }
            _ => Err(self.tokens.unexpected("text in single quotes")),
        }
    }

    /// `('a', 'b')` or `['a', 'b']`.
    fn list(&mut self) -> Result<Vec<Constant>, ConditionError> {
        let close = if self.tokens.take_symbol("(") {
            ")"
        } else if self.tokens.take_symbol("[") {
            "]"
        } else {
            return Err(self.tokens.unexpected("a list: ('A', 'B')"));
        };
        let mut values = vec![self.constant()?];
        while self.tokens.take_symbol(",") {
            if values.len() == MAX_TESTS {
                let message = format!("`in` has more than {MAX_TESTS} values");
                return Err(ConditionError { at: self.tokens.place(), message });
            }
            values.push(self.constant()?);
        }
        self.tokens.expect_symbol(close)?;
        Ok(values)
    }

    fn attribute(&mut self) -> Result<String, ConditionError> {
        let is_name = |word: &str| {
            word.chars().all(is_in_field_name)
                && !KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
                && Decimal::parse(word).is_none()
        };
        match self.tokens.peek().map(|token| token.kind.clone()) {
            Some(TokenKind::Word(word)) if is_name(&word) => {
                self.tokens.take();
                Ok(word)
            }
            _ => Err(self.tokens.unexpected("the name of an attribute")),
        }
    }

    /// A quoted text, a number, `true` or `false`.
    fn constant(&mut self) -> Result<Constant, ConditionError> {
        let constant = match self.tokens.peek().map(|token| token.kind.clone()) {
            Some(TokenKind::Quoted(text)) => Some(Constant::Text(text)),
            Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case("true") => Some(Constant::Bool(true)),
            Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case("false") => Some(Constant::Bool(false)),
            Some(TokenKind::Word(word)) if Decimal::parse(&word).is_some() => Some(Constant::Number(word)),
            _ => None,
        };
        match constant {
            Some(constant) => {
                self.tokens.take();
                Ok(constant)
            }
            None => Err(self.tokens.unexpected("a value: text in single quotes, a number, true or false")),
        }
    }
}
