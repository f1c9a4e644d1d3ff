//! Precedence-climbing parser for expressions: values, paths, function calls and conditions.

use crate::error::{Problem, StatementError};
use crate::syntax::keyword;
use crate::syntax::token::{SourceSpan, Token, TokenKind, tokens};
use crate::syntax::{Expression, ExpressionKind, PathExpression, PathStep};

/// Limit for nested expressions. Deeper nesting could exhaust the stack.
const MAX_DEPTH: usize = 100;

const OR: u8 = 10;
const AND: u8 = 20;
const NOT: u8 = 30;
const EQUALITY: u8 = 40;
const ORDER: u8 = 50;
const SUM: u8 = 60;
const PRODUCT: u8 = 70;

/// Operators written as symbols: as written, normalized, and their precedence.
const INFIX: [(&str, &str, u8); 13] = [
    ("=", "=", EQUALITY),
    ("<>", "<>", EQUALITY),
    ("!=", "<>", EQUALITY),
    ("<", "<", ORDER),
    ("<=", "<=", ORDER),
    (">", ">", ORDER),
    (">=", ">=", ORDER),
    ("+", "+", SUM),
    ("-", "-", SUM),
    ("||", "||", SUM),
    ("*", "*", PRODUCT),
    ("/", "/", PRODUCT),
    ("%", "%", PRODUCT),
];

pub(crate) struct Parser {
    tokens: Vec<Token>,
    position: usize,
    depth: usize,
    /// The number of `?` parsed.
    pub(crate) parameters: usize,
}

type ParseResult<T> = Result<T, StatementError>;

pub(crate) fn malformed<T>(detail: &'static str) -> ParseResult<T> {
    Err(Problem::NotWellFormed(detail).into())
}

impl Parser {
    pub(crate) fn new(text: &str) -> ParseResult<Parser> {
        Ok(Parser { tokens: tokens(text)?, position: 0, depth: 0, parameters: 0 })
    }

    pub(crate) fn peek(&self) -> &TokenKind {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(self.position + ahead).map_or(&TokenKind::End, |token| &token.kind)
    }

    pub(crate) fn span(&self) -> SourceSpan {
        self.tokens.get(self.position).map(|token| token.span).unwrap_or_default()
    }

    pub(crate) fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len().saturating_sub(1));
    }

    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(next) if *next == symbol)
    }

    pub(crate) fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(), TokenKind::Keyword(next) if *next == keyword)
    }

    pub(crate) fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn accept_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// Expects the end of the statement, with or without a semicolon.
    pub(crate) fn finish(&mut self) -> ParseResult<()> {
        self.accept_symbol(";");
        match self.peek() {
            TokenKind::End => Ok(()),
            _ => malformed("Unexpected token after expression"),
        }
    }

    pub(crate) fn expression(&mut self) -> ParseResult<Expression> {
        self.expression_with_precedence(0)
    }

    /// Parses an expression whose operators all have at least this precedence.
    fn expression_with_precedence(&mut self, minimum: u8) -> ParseResult<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return malformed("Nesting Levels have exceeded supported limits");
        }
        let mut left = self.prefix_expression()?;
        let mut chained = 0;
        while let Some((operator, negated, precedence)) = self.infix().filter(|infix| infix.2 >= minimum) {
            if !matches!(operator, "and" | "or") {
                // Each operator makes the tree one level deeper, except for AND and OR, which extend a list.
                chained += 1;
                if self.depth + chained > MAX_DEPTH {
                    return malformed("Nesting Levels have exceeded supported limits");
                }
            }
            self.position += if negated { 2 } else { 1 };
            left = self.combine(left, operator, precedence)?;
            if negated {
                let span = left.span;
                left = Expression { kind: ExpressionKind::Not(Box::new(left)), span };
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Returns the next operator, whether it is negated by NOT, and its precedence.
    fn infix(&self) -> Option<(&'static str, bool, u8)> {
        let precedence = |word: &'static str| match word {
            "or" => Some(OR),
            "and" => Some(AND),
            "is" | "in" => Some(EQUALITY),
            "between" | "like" => Some(ORDER),
            _ => None,
        };
        match (self.peek(), self.peek_at(1)) {
            (TokenKind::Symbol(symbol), _) => {
                let found = INFIX.iter().find(|(written, ..)| written == symbol);
                found.map(|(_, operator, precedence)| (*operator, false, *precedence))
            }
            (TokenKind::Keyword("not"), TokenKind::Keyword(word @ ("in" | "between" | "like"))) => {
                precedence(word).map(|precedence| (*word, true, precedence))
            }
            (TokenKind::Keyword(word), _) => precedence(word).map(|precedence| (*word, false, precedence)),
            _ => None,
        }
    }

    /// Parses the right side of an operator and combines it with the left side.
    fn combine(
        &mut self,
        left: Expression,
        operator: &'static str,
        precedence: u8,
    ) -> ParseResult<Expression> {
        let span = left.span;
        let kind = match operator {
            "is" => return self.type_test(left),
            "in" => {
                let right =
                    if self.is_symbol("(") { self.enclosed_list()? } else { self.right_side(precedence)? };
                ExpressionKind::In(Box::new(left), Box::new(right))
            }
            "between" => {
                let from = self.right_side(precedence)?;
                if !self.accept_keyword("and") {
                    return malformed("Expected AND after BETWEEN");
                }
                let to = self.right_side(precedence)?;
                ExpressionKind::Between(Box::new(left), Box::new(from), Box::new(to))
            }
            "and" => join(ExpressionKind::And, left, self.right_side(precedence)?),
            "or" => join(ExpressionKind::Or, left, self.right_side(precedence)?),
            "like" => ExpressionKind::Infix("LIKE", Box::new(left), Box::new(self.right_side(precedence)?)),
            _ => ExpressionKind::Infix(operator, Box::new(left), Box::new(self.right_side(precedence)?)),
        };
        Ok(Expression { kind, span })
    }

    fn right_side(&mut self, precedence: u8) -> ParseResult<Expression> {
        match self.peek() {
            TokenKind::End => malformed("Missing right-hand side expression of infix operator"),
            _ => self.expression_with_precedence(precedence + 1),
        }
    }

    fn enclosed_list(&mut self) -> ParseResult<Expression> {
        let span = self.span();
        self.advance();
        let members = self.members(")", "Expected RIGHT_PAREN")?;
        Ok(Expression { kind: ExpressionKind::List(members), span })
    }

    /// `IS [NOT] type`
    fn type_test(&mut self, left: Expression) -> ParseResult<Expression> {
        let negated = self.accept_keyword("not");
        let word = |kind: &TokenKind| match kind {
            TokenKind::Keyword(word) => (*word).to_owned(),
            TokenKind::Name(name) => name.clone(),
            _ => String::new(),
        };
        let two = format!("{} {}", word(self.peek()), word(self.peek_at(1)));
        let name = if let Some(name) = keyword::type_name(&two) {
            self.advance();
            name
        } else {
            match keyword::type_name(&word(self.peek())) {
                Some(name) => name,
                None => return malformed("Expected type name"),
            }
        };
        self.advance();
        let span = left.span;
        let test = Expression { kind: ExpressionKind::Is(Box::new(left), name), span };
        match negated {
            true => Ok(Expression { kind: ExpressionKind::Not(Box::new(test)), span }),
            false => Ok(test),
        }
    }

    /// Parses a term with optional signs or NOT before it.
    fn prefix_expression(&mut self) -> ParseResult<Expression> {
        let span = self.span();
        if self.accept_keyword("not") {
            let operand = self.expression_with_precedence(NOT)?;
            return Ok(Expression { kind: ExpressionKind::Not(Box::new(operand)), span });
        }
        let mut signs = Vec::new();
        while let TokenKind::Symbol(sign @ ("-" | "+")) = self.peek() {
            signs.push(*sign);
            self.advance();
        }
        let mut operand = self.term()?;
        let Some(first) = signs.first().copied() else { return Ok(operand) };
        match &mut operand.kind {
            ExpressionKind::Number(number) => {
                if signs.iter().filter(|sign| **sign == "-").count() % 2 == 1 {
                    number.insert(0, '-');
                }
                Ok(operand)
            }
            _ => Ok(Expression { kind: ExpressionKind::Sign(first, Box::new(operand)), span }),
        }
    }

    fn term(&mut self) -> ParseResult<Expression> {
        let span = self.span();
        let kind = match self.peek().clone() {
            TokenKind::Text(text) => ExpressionKind::Text(text),
            TokenKind::Number(number) => ExpressionKind::Number(number),
            TokenKind::Keyword("true") => ExpressionKind::Boolean(true),
            TokenKind::Keyword("false") => ExpressionKind::Boolean(false),
            TokenKind::Keyword("null") => ExpressionKind::Null,
            TokenKind::Keyword("missing") => ExpressionKind::Missing,
            TokenKind::Symbol("?") => {
                self.parameters += 1;
                ExpressionKind::Parameter(self.parameters - 1)
            }
            TokenKind::Keyword(word) => return self.keyword_term(word, span),
            TokenKind::Name(name) => return self.named_term(name, span),
            TokenKind::Symbol(symbol) => return self.symbol_term(symbol, span),
            TokenKind::End => return malformed("Unexpected term"),
        };
        self.advance();
        Ok(Expression { kind, span })
    }

    fn keyword_term(&mut self, word: &'static str, span: SourceSpan) -> ParseResult<Expression> {
        let called = matches!(self.peek_at(1), TokenKind::Symbol("("));
        match word {
            _ if keyword::is_function(word) && called => self.call(word.to_owned(), span),
            _ if keyword::is_operator(word) => malformed("Unexpected operator"),
            // Only an update can begin like this, and an expression cannot contain one.
            "from" => malformed("Expected data manipulation"),
            _ => malformed("Unexpected keyword"),
        }
    }

    fn named_term(&mut self, name: String, span: SourceSpan) -> ParseResult<Expression> {
        if matches!(self.peek_at(1), TokenKind::Symbol("(")) {
            return self.call(name, span);
        }
        Ok(Expression { kind: ExpressionKind::Path(self.path()?), span })
    }

    fn symbol_term(&mut self, symbol: &'static str, span: SourceSpan) -> ParseResult<Expression> {
        let kind = match symbol {
            "(" => {
                self.advance();
                let inner = self.expression()?;
                return match self.accept_symbol(")") {
                    true => Ok(inner),
                    false => malformed("Expected RIGHT_PAREN"),
                };
            }
            "[" => {
                self.advance();
                ExpressionKind::List(self.members("]", "Expected RIGHT_BRACKET")?)
            }
            "<<" => {
                self.advance();
                ExpressionKind::Bag(self.members(">>", "Expected RIGHT_DOUBLE_ANGLE_BRACKET")?)
            }
            "{" => {
                self.advance();
                ExpressionKind::Map(self.map_members()?)
            }
            _ if INFIX.iter().any(|(written, ..)| *written == symbol) => {
                return malformed("Unexpected operator");
            }
            _ => return malformed("Unexpected term"),
        };
        Ok(Expression { kind, span })
    }

    fn call(&mut self, name: String, span: SourceSpan) -> ParseResult<Expression> {
        self.advance();
        self.advance();
        if self.is_symbol("*") && matches!(self.peek_at(1), TokenKind::Symbol(")")) {
            // `count(*)` is grammatical, although DynamoDB does not support it.
            self.advance();
        }
        let operands = self.members(")", "Expected RIGHT_PAREN")?;
        Ok(Expression { kind: ExpressionKind::Call(name, operands), span })
    }

    /// Parses expressions separated by commas, up to the closing symbol.
    fn members(&mut self, close: &str, missing: &'static str) -> ParseResult<Vec<Expression>> {
        let mut members = Vec::new();
        if self.accept_symbol(close) {
            return Ok(members);
        }
        loop {
            members.push(self.expression()?);
            if self.accept_symbol(close) {
                return Ok(members);
            }
            if !self.accept_symbol(",") {
                return malformed(missing);
            }
        }
    }

    fn map_members(&mut self) -> ParseResult<Vec<(Expression, Expression)>> {
        let mut members = Vec::new();
        if self.accept_symbol("}") {
            return Ok(members);
        }
        loop {
            let name = self.expression()?;
            if !self.accept_symbol(":") {
                return malformed("Expected COLON");
            }
            members.push((name, self.expression()?));
            if self.accept_symbol("}") {
                return Ok(members);
            }
            if !self.accept_symbol(",") {
                return malformed("Expected RIGHT_CURLY");
            }
        }
    }

    /// Parses a name and the steps after it.
    pub(crate) fn path(&mut self) -> ParseResult<PathExpression> {
        let TokenKind::Name(root) = self.peek().clone() else {
            return match self.peek() {
                TokenKind::Keyword(_) => malformed("Unexpected keyword"),
                _ => malformed("Unexpected term"),
            };
        };
        self.advance();
        let mut path = PathExpression { root, steps: Vec::new() };
        loop {
            if self.accept_symbol(".") {
                path.steps.push(self.dot_step()?);
            } else if self.accept_symbol("[") {
                path.steps.push(self.bracket_step()?);
            } else {
                return Ok(path);
            }
        }
    }

    fn dot_step(&mut self) -> ParseResult<PathStep> {
        match self.peek().clone() {
            TokenKind::Name(name) => {
                self.advance();
                Ok(PathStep::Attribute(name))
            }
            TokenKind::Symbol("*") => Err(Problem::Unpivot.into()),
            _ => malformed("Invalid path dot component"),
        }
    }

    fn bracket_step(&mut self) -> ParseResult<PathStep> {
        let negative = self.accept_symbol("-");
        let span = self.span();
        let step = match self.peek().clone() {
            TokenKind::Number(number) if negative => PathStep::Index(format!("-{number}"), span),
            TokenKind::Number(number) => PathStep::Index(number, span),
            TokenKind::Text(name) if !negative => PathStep::Attribute(name),
            TokenKind::Symbol("*") => return Err(Problem::Wildcard.into()),
            _ => return malformed("Unexpected term"),
        };
        self.advance();
        match self.accept_symbol("]") {
            true => Ok(step),
            false => malformed("Expected RIGHT_BRACKET"),
        }
    }
}

/// Joins conditions by AND or OR; those in a row become one list.
fn join(
    operator: fn(Vec<Expression>) -> ExpressionKind,
    left: Expression,
    right: Expression,
) -> ExpressionKind {
    let expected = std::mem::discriminant(&operator(Vec::new()));
    let span = left.span;
    let mut members = match left.kind {
        kind if std::mem::discriminant(&kind) != expected => vec![Expression { kind, span }],
        ExpressionKind::And(members) | ExpressionKind::Or(members) => members,
        kind => vec![Expression { kind, span }],
    };
    members.push(right);
    operator(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Expression, String> {
        let read = || {
            let mut parser = Parser::new(text)?;
            let expression = parser.expression()?;
            parser.finish()?;
            Ok(expression)
        };
        read().map_err(|error: StatementError| error.to_string())
    }

    /// Prints the tree with parentheses.
    fn printed(expression: &Expression) -> String {
        let all = |members: &[Expression], separator: &str| {
            members.iter().map(printed).collect::<Vec<_>>().join(separator)
        };
        match &expression.kind {
            ExpressionKind::Text(text) => format!("'{text}'"),
            ExpressionKind::Number(number) => number.clone(),
            ExpressionKind::Boolean(value) => value.to_string(),
            ExpressionKind::Null => "null".into(),
            ExpressionKind::Missing => "missing".into(),
            ExpressionKind::Parameter(position) => format!("?{position}"),
            ExpressionKind::Path(path) => format!("{}{}", path.root, ".".repeat(path.steps.len())),
            ExpressionKind::Call(name, operands) => format!("{name}({})", all(operands, ", ")),
            ExpressionKind::List(members) => format!("[{}]", all(members, ", ")),
            ExpressionKind::Bag(members) => format!("<<{}>>", all(members, ", ")),
            ExpressionKind::Map(members) => format!("{{{}}}", members.len()),
            ExpressionKind::And(members) => format!("({})", all(members, " and ")),
            ExpressionKind::Or(members) => format!("({})", all(members, " or ")),
            ExpressionKind::Not(inner) => format!("not {}", printed(inner)),
            ExpressionKind::Infix(symbol, left, right) => {
                format!("({} {symbol} {})", printed(left), printed(right))
            }
            ExpressionKind::Sign(sign, inner) => format!("{sign}{}", printed(inner)),
            ExpressionKind::Between(what, from, to) => {
                format!("({} between {} and {})", printed(what), printed(from), printed(to))
            }
            ExpressionKind::In(what, members) => format!("({} in {})", printed(what), printed(members)),
            ExpressionKind::Is(what, name) => format!("({} is {name})", printed(what)),
        }
    }

    #[test]
    fn operators_have_the_precedence_of_sql() {
        for (text, tree) in [
            ("a = 1 OR b < 2 AND NOT c <> 3", "((a = 1) or ((b < 2) and not (c <> 3)))"),
            ("a = 1 AND (b = 2 AND c = 3)", "((a = 1) and ((b = 2) and (c = 3)))"),
            ("a BETWEEN 1 AND 2 AND b IS NOT MISSING", "((a between 1 and 2) and not (b is missing))"),
            (
                "a NOT IN ('x') AND b NOT BETWEEN - 1 AND +1",
                "(not (a in ['x']) and not (b between -1 and 1))",
            ),
            ("a + 1 - 2 * 3 = - - 4", "(((a + 1) - (2 * 3)) = 4)"),
            ("a.b[0]['c'] IN [?, ?]", "(a... in [?0, ?1])"),
            ("SIZE(a) >= 1 and x is Double Precision", "((size(a) >= 1) and (x is double precision))"),
            ("-a", "-a"),
        ] {
            assert_eq!(parsed(text).map(|tree| printed(&tree)).as_deref(), Ok(tree), "{text}");
        }
    }

    #[test]
    fn syntax_errors_have_the_messages_of_aws() {
        for (text, detail) in [
            ("", "Unexpected term"),
            ("a = 1 AND", "Missing right-hand side expression of infix operator"),
            ("a = LIKE", "Unexpected operator"),
            ("ORDER", "Unexpected keyword"),
            ("a IS FOO", "Expected type name"),
            ("m.inner", "Invalid path dot component"),
            ("(a = 1", "Expected RIGHT_PAREN"),
            ("a = 1)", "Unexpected token after expression"),
        ] {
            let message = format!("Statement wasn't well formed, can't be processed: {detail}");
            assert_eq!(parsed(text), Err(message), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited_to_protect_the_stack() {
        for text in [
            "(".repeat(8_000),
            "[".repeat(8_000),
            "NOT ".repeat(2_000),
            "{'a':".repeat(1_600),
            "a".to_owned() + &"+a".repeat(4_000),
            "f(".repeat(4_000),
        ] {
            assert!(parsed(&text).is_err());
        }
        assert!(parsed(&("a=1".to_owned() + &" AND a=1".repeat(900))).is_ok());
        assert!(parsed(&("-".repeat(8_000) + "1")).is_err(), "two minus signs begin a comment");
        assert!(parsed(&("- ".repeat(4_000) + "1")).is_ok());
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,60}") {
            let _ = parsed(&text);
        }

        #[test]
        fn arbitrary_words_do_not_panic(words in prop::collection::vec(
            prop::sample::select(vec![
                "SELECT", "FROM", "WHERE", "a", "\"b\"", "'t'", "1", ".5", "-", "?", "(", ")", "[", "]", "{", "}", "<<",
                ">>", ",", ".", ":", "=", "<", "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "MISSING", "size", "*",
            ]), 0..25)) {
            let _ = parsed(&words.join(" "));
        }
    }
}
