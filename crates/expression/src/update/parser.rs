//! Parser for update expressions.

use crate::error::Problem;
use crate::syntax::parser::{Finding, Parser};
use crate::syntax::token::TokenKind;
use crate::syntax::{ActionSyntax, SetValueSyntax, ValueSyntax};
use crate::{ExpressionError, ExpressionKind};

/// The order in which AWS reports findings.
const ORDER: [Finding; 6] = [
    Finding::ReservedWord,
    Finding::Function,
    Finding::Section,
    Finding::Misuse,
    Finding::Index,
    Finding::Operators,
];

/// The keywords of the sections.
const SECTIONS: [(TokenKind, &str); 4] = [
    (TokenKind::Set, "SET"),
    (TokenKind::Remove, "REMOVE"),
    (TokenKind::Add, "ADD"),
    (TokenKind::Delete, "DELETE"),
];

/// Returns the actions in the order written.
pub(crate) fn parse(text: &str) -> Result<Vec<ActionSyntax>, ExpressionError> {
    let mut parser = Parser::new(ExpressionKind::Update, text)?;
    let mut actions = Vec::new();
    let mut seen = Vec::new();
    loop {
        let keyword = parser.tokens.peek();
        let Some((_, name)) = SECTIONS.iter().find(|(kind, _)| *kind == keyword) else {
            return Err(parser.syntax_error());
        };
        if seen.contains(&keyword) {
            parser.report(Finding::Section, Problem::RepeatedSection(name));
        }
        seen.push(keyword);
        parser.tokens.advance();
        parser.section(keyword, &mut actions)?;
        if parser.tokens.peek() == TokenKind::End {
            parser.finish(&ORDER)?;
            return Ok(actions);
        }
    }
}

impl Parser<'_> {
    fn section(
        &mut self,
        keyword: TokenKind,
        actions: &mut Vec<ActionSyntax>,
    ) -> Result<(), ExpressionError> {
        loop {
            let path = self.path()?;
            actions.push(match keyword {
                TokenKind::Set => {
                    self.expect(TokenKind::Equal)?;
                    ActionSyntax::Set(path, self.set_value()?)
                }
                TokenKind::Remove => ActionSyntax::Remove(path),
                TokenKind::Add => ActionSyntax::Add(path, self.value_placeholder()?),
                _ => ActionSyntax::Delete(path, self.value_placeholder()?),
            });
            if !self.tokens.accept(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    fn value_placeholder(&mut self) -> Result<ValueSyntax, ExpressionError> {
        let placeholder = self.tokens.text().to_owned();
        self.expect(TokenKind::ValuePlaceholder)?;
        Ok(ValueSyntax::Placeholder(placeholder))
    }

    /// Parses an operand, or the sum or difference of two, which may be in parentheses as a whole.
    fn set_value(&mut self) -> Result<SetValueSyntax, ExpressionError> {
        let left = if self.tokens.accept(TokenKind::OpenParenthesis) {
            self.enter_call()?;
            let inner = self.set_value()?;
            self.leave_call()?;
            match inner {
                SetValueSyntax::Operand(operand) => operand,
                arithmetic => return Ok(arithmetic),
            }
        } else {
            self.bare_operand()?
        };
        let combine = match self.tokens.peek() {
            TokenKind::Plus => SetValueSyntax::Plus,
            TokenKind::Minus => SetValueSyntax::Minus,
            _ => return Ok(SetValueSyntax::Operand(left)),
        };
        self.tokens.advance();
        self.count_operator();
        let right = self.operand()?;
        self.check_operand(&left);
        self.check_operand(&right);
        Ok(combine(left, right))
    }
}
