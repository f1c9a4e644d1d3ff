//! Key conditions of declared requests: `PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#2026-01' AND 'ORDER#2026-02'`.
//!
//! What DynamoDB refuses in a key condition is refused here: `OR`, `NOT`, `<>`, `IN`, other functions, one key twice.

use super::condition::ConditionError;
use super::condition::lexer::{Token, TokenKind, Tokens};
use crate::source::Span;
use crate::template::Template;

/// One comparison with a key attribute.
#[derive(Clone, Debug)]
pub struct KeyClause {
    /// The key attribute.
    pub key: String,
    /// How it is compared.
    pub operator: KeyOperator,
    /// The values: two for `BETWEEN`, one otherwise.
    pub values: Vec<Template>,
    /// The fields of the values, and where each is written.
    pub fields: Vec<(String, Span)>,
    /// Where the clause is written.
    pub span: Span,
}

impl KeyClause {
    /// Returns whether a value, by its number, bounds the key from above.
    pub fn is_upper(&self, number: usize) -> bool {
        number == 1 || matches!(self.operator, KeyOperator::Below | KeyOperator::UpTo)
    }
}

/// How a key attribute is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOperator {
    /// `=`
    Equals,
    /// `begins_with`
    BeginsWith,
    /// `BETWEEN`, both ends included.
    Between,
    /// `>`
    Above,
    /// `>=`
    From,
    /// `<`
    Below,
    /// `<=`
    UpTo,
}

impl KeyOperator {
    /// Returns the symbol of a comparison with one value; `None` for `begins_with` and `BETWEEN`.
    pub fn symbol(self) -> Option<&'static str> {
        OPERATORS.iter().find(|(_, operator)| *operator == self).map(|(symbol, _)| *symbol)
    }
}

const OPERATORS: [(&str, KeyOperator); 5] = [
    ("=", KeyOperator::Equals),
    ("<=", KeyOperator::UpTo),
    ("<", KeyOperator::Below),
    (">=", KeyOperator::From),
    (">", KeyOperator::Above),
];
const WANTED: &str = "=, <, <=, >, >=, BETWEEN or begins_with";

/// Parses a key condition.
///
/// # Errors
///
/// Returns what DynamoDB would refuse, and where.
pub fn parse(text: &str) -> Result<Vec<KeyClause>, ConditionError> {
    let mut tokens = Tokens::new(text)?;
    let mut clauses: Vec<KeyClause> = Vec::new();
    while tokens.peek().is_some() {
        let clause = clause_in_brackets(&mut tokens)?;
        if clauses.iter().any(|other| other.key == clause.key) {
            let message = format!("{} occurs twice; a key condition compares each key once", clause.key);
            return Err(ConditionError { at: clause.span, message });
        }
        clauses.push(clause);
        if tokens.peek().is_some_and(|token| token.is_word("or")) {
            return Err(refused(&tokens, "a key condition has no OR: send one request for each alternative"));
        }
        if tokens.peek().is_some() && !tokens.take_word("and") {
            return Err(tokens.unexpected("AND or the end"));
        }
    }
    Ok(clauses)
}

fn refused(tokens: &Tokens, message: &str) -> ConditionError {
    ConditionError { at: tokens.place(), message: message.to_owned() }
}

fn clause_in_brackets(tokens: &mut Tokens) -> Result<KeyClause, ConditionError> {
    let bracketed = tokens.take_symbol("(");
    let clause = clause(tokens)?;
    if bracketed {
        tokens.expect_symbol(")")?;
    }
    Ok(clause)
}

fn clause(tokens: &mut Tokens) -> Result<KeyClause, ConditionError> {
    let start = tokens.place().start;
    if tokens.peek().is_some_and(|token| token.is_word("not")) {
        return Err(refused(tokens, "a key condition has no NOT"));
    }
    let function = tokens.place();
    let mut key = word(tokens, "a key attribute")?;
    let mut fields = Vec::new();
    let mut value = |tokens: &mut Tokens| value(tokens, &mut fields);
    let (operator, values) = if tokens.take_symbol("(") {
        if !key.eq_ignore_ascii_case("begins_with") {
            let message = format!(
                "`{key}` is not a function of key conditions, which have only begins_with; it can only be a filter"
            );
            return Err(ConditionError { at: function, message });
        }
        key = word(tokens, "a key attribute")?;
        tokens.expect_symbol(",")?;
        let values = vec![value(tokens)?];
        tokens.expect_symbol(")")?;
        (KeyOperator::BeginsWith, values)
    } else if tokens.take_word("begins_with") {
        (KeyOperator::BeginsWith, vec![value(tokens)?])
    } else if tokens.take_word("between") {
        let from = value(tokens)?;
        if !tokens.take_word("and") {
            return Err(tokens.unexpected("AND and the upper bound"));
        }
        (KeyOperator::Between, vec![from, value(tokens)?])
    } else {
        (operator(tokens)?, vec![value(tokens)?])
    };
    Ok(KeyClause { key, operator, values, fields, span: start..tokens.taken() })
}

fn operator(tokens: &mut Tokens) -> Result<KeyOperator, ConditionError> {
    let found = OPERATORS.iter().find(|(symbol, _)| tokens.take_symbol(symbol));
    if let Some((_, operator)) = found {
        return Ok(*operator);
    }
    let is = |symbols: &[&str], token: &Token| symbols.iter().any(|symbol| token.is_symbol(symbol));
    let message = match tokens.peek() {
        Some(token) if token.is_symbol("==") => "equality is written with a single =",
        Some(token) if is(&["<>", "!="], token) => {
            "a key condition has no inequality; it can only be a filter"
        }
        Some(token) if token.is_word("in") => "a key condition has no IN: send one request for each value",
        _ => return Err(tokens.unexpected(WANTED)),
    };
    Err(refused(tokens, message))
}

fn word(tokens: &mut Tokens, wanted: &str) -> Result<String, ConditionError> {
    match tokens.peek().map(|token| token.kind.clone()) {
        Some(TokenKind::Word(word)) => {
            tokens.take();
            Ok(word)
        }
        _ => Err(tokens.unexpected(wanted)),
    }
}

/// A template in quotes, or a single word; adds its fields to `fields`.
fn value(tokens: &mut Tokens, fields: &mut Vec<(String, Span)>) -> Result<Template, ConditionError> {
    let at = tokens.place();
    let (text, quote) = match tokens.peek().map(|token| token.kind.clone()) {
        Some(TokenKind::Quoted(text)) => (text, 1),
        Some(TokenKind::Word(word)) => (word, 0),
        _ => return Err(tokens.unexpected("a value in single quotes")),
    };
    tokens.take();
    let first = at.start + quote;
    let template = Template::parse(&text).map_err(|error| {
        let start = first + error.at;
        ConditionError { at: start..start + 1, message: error.message }
    })?;
    let mut end = 0;
    for name in template.fields() {
        let start = text[end..].find(&format!("{{{name}")).map_or(end, |found| end + found);
        end = (start + name.len() + 1).min(text.len());
        fields.push((name.to_owned(), first + start..first + end));
    }
    Ok(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_conditions_are_parsed() {
        let clauses = parse("PK = 'USER#{userId}' AND SK BETWEEN 'ORDER and 1' AND 'ORDER#2'").unwrap();
        assert_eq!(clauses.len(), 2);
        assert_eq!((clauses[1].operator, clauses[1].values.len()), (KeyOperator::Between, 2));
        let clauses = parse("(PK = USER#{userId}) and (begins_with(SK, ''))").unwrap();
        assert_eq!((clauses[1].operator, clauses[1].key.as_str()), (KeyOperator::BeginsWith, "SK"));
        assert!(parse("").unwrap().is_empty());
        let clauses = parse("PK = 'A#{a}#{a:08}' AND SK > '{b}'").unwrap();
        assert_eq!(clauses[0].fields, [("a".to_owned(), 8..10), ("a".to_owned(), 12..14)]);
        assert_eq!(clauses[1].fields, [("b".to_owned(), 30..32)]);
    }

    #[test]
    fn what_dynamodb_refuses_is_refused_where_it_stands() {
        for (text, at, part) in [
            ("PK = 'a' OR PK = 'b'", 9, "no OR"),
            ("PK = 'a' AND NOT SK = 'b'", 13, "no NOT"),
            ("PK = 'a' AND contains(SK, 'b')", 13, "only begins_with"),
            ("PK = 'a' AND SK <> 'b'", 16, "no inequality"),
            ("PK = 'a' AND SK in ('b')", 16, "no IN"),
            ("PK == 'a'", 3, "single ="),
            ("PK = 'a' AND PK = 'b'", 13, "twice"),
            ("PK = 'A#{b'", 8, "never closed"),
            ("PK = 'a' SK = 'b'", 9, "expected AND"),
            ("PK BETWEEN 'a' OR 'b'", 15, "expected AND"),
            ("PK", 2, "ends here"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.at.start == at && error.message.contains(part), "{text}: {error:?}");
        }
    }
}
