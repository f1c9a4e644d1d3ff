//! Parser for conditions, filters and key conditions.
//!
//! Precedence, loosest first: OR, AND, NOT, comparison. Parentheses may enclose a condition or an
//! operand, and only the token after them shows which; hence a [`Term`] may be either.

use crate::error::Problem;
use crate::syntax::parser::{Finding, Parser};
use crate::syntax::token::TokenKind;
use crate::syntax::{Comparator, ConditionSyntax, Function, OperandSyntax};
use crate::{ExpressionError, ExpressionKind};
use partita_value::limits::EXPRESSION_OPERATORS;

/// The order in which AWS reports findings.
const ORDER: [Finding; 6] = [
    Finding::Parentheses,
    Finding::Function,
    Finding::Misuse,
    Finding::ReservedWord,
    Finding::Index,
    Finding::Operators,
];

pub(crate) fn parse(kind: ExpressionKind, text: &str) -> Result<ConditionSyntax, ExpressionError> {
    let mut parser = Parser::new(kind, text)?;
    let term = parser.expression()?;
    let condition = parser.condition(term)?;
    parser.finish(&ORDER)?;
    Ok(condition)
}

/// A condition or an operand: what parentheses can enclose.
struct Term {
    content: Content,
    /// It is directly enclosed in parentheses.
    enclosed: bool,
}

enum Content {
    Condition(ConditionSyntax),
    Operand(OperandSyntax),
}

/// One level of parentheses, or the whole text, while it is being parsed.
#[derive(Default)]
struct Level {
    /// Completed operands of OR.
    any: Vec<ConditionSyntax>,
    /// Operands of the AND being parsed.
    all: Vec<ConditionSyntax>,
    /// NOTs before the term being parsed.
    negations: usize,
}

impl Level {
    fn is_empty(&self) -> bool {
        self.any.is_empty() && self.all.is_empty() && self.negations == 0
    }
}

impl Parser<'_> {
    /// Parses terms joined by AND and OR; a single term is returned unchanged. The levels of parentheses are
    /// kept in a vector instead of on the stack, so that deep nesting cannot exhaust it.
    fn expression(&mut self) -> Result<Term, ExpressionError> {
        let mut outer: Vec<Level> = Vec::new();
        let mut level = Level { negations: self.negations(), ..Level::default() };
        loop {
            if self.tokens.accept(TokenKind::OpenParenthesis) {
                self.enter()?;
                outer.push(std::mem::take(&mut level));
                level.negations = self.negations();
                continue;
            }
            let operand = self.bare_operand()?;
            let mut term = self.comparison(operand, false)?;
            // Completes this level and all enclosing ones that end at the same position.
            while let Some(whole) = self.join(&mut level, term)? {
                let Some(enclosing) = outer.pop() else { return Ok(whole) };
                level = enclosing;
                term = self.close(whole)?;
            }
            level.negations = self.negations();
        }
    }

    fn negations(&mut self) -> usize {
        let mut count = 0;
        while self.tokens.accept(TokenKind::Not) {
            self.count_operator();
            count += 1;
        }
        count
    }

    /// Adds a term to its level. Returns `None` if AND or OR follows, and with it another term.
    fn join(&mut self, level: &mut Level, term: Term) -> Result<Option<Term>, ExpressionError> {
        let follows = matches!(self.tokens.peek(), TokenKind::And | TokenKind::Or);
        if level.is_empty() && !follows {
            return Ok(Some(term));
        }
        let mut condition = self.condition(term)?;
        for _ in 0..level.negations.min(EXPRESSION_OPERATORS) {
            condition = ConditionSyntax::Not(Box::new(condition));
        }
        level.all.push(condition);
        if follows {
            self.count_operator();
        }
        if self.tokens.accept(TokenKind::And) {
            return Ok(None);
        }
        level.any.push(single_or(std::mem::take(&mut level.all), ConditionSyntax::And));
        if self.tokens.accept(TokenKind::Or) {
            return Ok(None);
        }
        let content = Content::Condition(single_or(std::mem::take(&mut level.any), ConditionSyntax::Or));
        Ok(Some(Term { content, enclosed: false }))
    }

    /// Closes the parentheses around a term.
    fn close(&mut self, inner: Term) -> Result<Term, ExpressionError> {
        self.leave()?;
        if inner.enclosed {
            self.report(Finding::Parentheses, Problem::RedundantParentheses);
        }
        match inner.content {
            Content::Condition(_) => Ok(Term { content: inner.content, enclosed: true }),
            Content::Operand(operand) => {
                let (operand, enclosed) = self.after_parentheses(operand)?;
                self.comparison(operand, enclosed)
            }
        }
    }

    /// Parses what follows the first operand: a comparison, or nothing, in which case it remains an operand.
    fn comparison(&mut self, operand: OperandSyntax, enclosed: bool) -> Result<Term, ExpressionError> {
        let token = self.tokens.peek();
        let comparator = match token {
            TokenKind::Equal => Comparator::Equal,
            TokenKind::NotEqual => Comparator::NotEqual,
            TokenKind::Less => Comparator::Less,
            TokenKind::LessOrEqual => Comparator::LessOrEqual,
            TokenKind::Greater => Comparator::Greater,
            TokenKind::GreaterOrEqual => Comparator::GreaterOrEqual,
            TokenKind::Between | TokenKind::In => Comparator::Equal,
            _ => return Ok(Term { content: Content::Operand(operand), enclosed }),
        };
        self.tokens.advance();
        self.count_operator();
        self.check_operand(&operand);
        let condition = match token {
            TokenKind::Between => {
                let from = self.checked_operand()?;
                self.expect(TokenKind::And)?;
                ConditionSyntax::Between(operand, from, self.checked_operand()?)
            }
            TokenKind::In => {
                self.expect(TokenKind::OpenParenthesis)?;
                let candidates = self.operands()?;
                self.expect(TokenKind::CloseParenthesis)?;
                ConditionSyntax::In(operand, candidates)
            }
            _ => ConditionSyntax::Compare(comparator, operand, self.checked_operand()?),
        };
        Ok(Term { content: Content::Condition(condition), enclosed: false })
    }

    fn checked_operand(&mut self) -> Result<OperandSyntax, ExpressionError> {
        let operand = self.operand()?;
        self.check_operand(&operand);
        Ok(operand)
    }

    /// Converts a term to a condition. The only operands that are conditions are function calls other than `size`.
    fn condition(&mut self, term: Term) -> Result<ConditionSyntax, ExpressionError> {
        match term.content {
            Content::Condition(condition) => Ok(condition),
            Content::Operand(OperandSyntax::Call(call)) => {
                if call.function == Function::Size {
                    self.report(Finding::Misuse, Problem::MisusedFunction(call.function.name()));
                }
                Ok(ConditionSyntax::Call(call))
            }
            Content::Operand(_) => Err(self.syntax_error()),
        }
    }
}

/// Returns a single condition unchanged and joins several with the operator.
fn single_or(
    mut conditions: Vec<ConditionSyntax>,
    operator: fn(Vec<ConditionSyntax>) -> ConditionSyntax,
) -> ConditionSyntax {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        Some(last) => {
            conditions.push(last);
            operator(conditions)
        }
        None => operator(conditions),
    }
}
