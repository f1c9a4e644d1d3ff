//! The shared base of all parsers: paths, function calls, and findings that do not stop the parsing.
//!
//! A syntax error ends parsing immediately. Every other problem that shows in the text alone is recorded as a
//! [`Finding`], because AWS reports the findings of the whole text in its own order.

use crate::error::Problem;
use crate::syntax::reserved_words::is_reserved;
use crate::syntax::token::{TokenKind, Tokens};
use crate::syntax::{Function, FunctionCall, Name, OperandSyntax, PathStep, PathSyntax, ValueSyntax};
use crate::{ExpressionError, ExpressionKind};
use partita_value::limits::{EXPRESSION_BYTES, EXPRESSION_OPERATORS, NESTING_LEVELS};

/// Limit for nested parentheses. Each level of a valid expression needs an operator or a function, so valid
/// ones stay below it; beyond it, walking the tree could exhaust the stack.
const MAX_DEPTH: usize = EXPRESSION_OPERATORS + 20;

/// Limit for nested calls, and for nested parentheses in updates, which are parsed recursively.
const MAX_CALL_DEPTH: usize = 50;

/// The largest index AWS accepts.
const MAX_INDEX: usize = i32::MAX as usize;

/// The kinds of problems in a text that can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Parentheses,
    Function,
    Misuse,
    ReservedWord,
    Section,
    Index,
    Operators,
    Nesting,
}

pub(crate) struct Parser<'a> {
    pub(crate) tokens: Tokens<'a>,
    kind: ExpressionKind,
    findings: Vec<(Finding, Problem)>,
    operators: usize,
    depth: usize,
    call_depth: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(kind: ExpressionKind, text: &'a str) -> Result<Parser<'a>, ExpressionError> {
        let problem = match text.len() {
            0 => Problem::Empty,
            length if length > EXPRESSION_BYTES => {
                let shows_size = !matches!(kind, ExpressionKind::Projection | ExpressionKind::Update);
                Problem::TooLong(shows_size.then_some(length))
            }
            _ => {
                let tokens = Tokens::new(text);
                return Ok(Parser {
                    tokens,
                    kind,
                    findings: Vec::new(),
                    operators: 0,
                    depth: 0,
                    call_depth: 0,
                });
            }
        };
        Err(problem.in_expression(kind))
    }

    /// Returns the syntax error for the next token, which is unexpected.
    pub(crate) fn syntax_error(&self) -> ExpressionError {
        self.tokens.unexpected_token().in_expression(self.kind)
    }

    pub(crate) fn expect(&mut self, kind: TokenKind) -> Result<(), ExpressionError> {
        if self.tokens.accept(kind) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Records a finding. Only the first of each kind is kept.
    pub(crate) fn report(&mut self, finding: Finding, problem: Problem) {
        if self.reported(finding).is_none() {
            self.findings.push((finding, problem));
        }
    }

    fn reported(&self, finding: Finding) -> Option<&Problem> {
        self.findings.iter().find(|(kind, _)| *kind == finding).map(|(_, problem)| problem)
    }

    /// Counts an operator or a function.
    pub(crate) fn count_operator(&mut self) {
        self.operators += 1;
        if self.operators > EXPRESSION_OPERATORS {
            self.report(Finding::Operators, Problem::TooManyOperators(EXPRESSION_OPERATORS + 1));
        }
    }

    /// Expects the end of the text. Returns the finding whose kind comes first in `order`; paths that are too
    /// deep come last.
    pub(crate) fn finish(mut self, order: &[Finding]) -> Result<(), ExpressionError> {
        self.expect(TokenKind::End)?;
        match order.iter().chain(&[Finding::Nesting]).find_map(|finding| self.reported(*finding)) {
            Some(problem) => Err(problem.clone().in_expression(self.kind)),
            None => Ok(()),
        }
    }

    /// Enters parentheses; [`Parser::leave`] leaves them.
    pub(crate) fn enter(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self) -> Result<(), ExpressionError> {
        self.depth -= 1;
        self.expect(TokenKind::CloseParenthesis)
    }

    /// Enters parentheses whose content is parsed recursively; [`Parser::leave_call`] leaves them.
    pub(crate) fn enter_call(&mut self) -> Result<(), ExpressionError> {
        self.call_depth += 1;
        if self.call_depth > MAX_CALL_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    pub(crate) fn leave_call(&mut self) -> Result<(), ExpressionError> {
        self.call_depth -= 1;
        self.expect(TokenKind::CloseParenthesis)
    }

    fn too_deep(&mut self) -> ExpressionError {
        let problem = self.tokens.parenthesis_problem().or_else(|| self.reported(Finding::Function).cloned());
        problem.unwrap_or(Problem::TooManyOperators(EXPRESSION_OPERATORS + 1)).in_expression(self.kind)
    }

    pub(crate) fn path(&mut self) -> Result<PathSyntax, ExpressionError> {
        let root = self.name()?;
        let mut path = PathSyntax { root, steps: Vec::new() };
        self.steps(&mut path)?;
        Ok(path)
    }

    /// Parses any number of `.name` and `[index]` steps of a path.
    pub(crate) fn steps(&mut self, path: &mut PathSyntax) -> Result<(), ExpressionError> {
        loop {
            if self.tokens.accept(TokenKind::Dot) {
                path.steps.push(PathStep::Attribute(self.name()?));
            } else if self.tokens.accept(TokenKind::OpenBracket) {
                path.steps.push(PathStep::Index(self.index()?));
                self.expect(TokenKind::CloseBracket)?;
            } else {
                self.check_nesting(path);
                return Ok(());
            }
        }
    }

    fn check_nesting(&mut self, path: &PathSyntax) {
        let levels = path.steps.len() + 1;
        if levels > NESTING_LEVELS {
            self.report(Finding::Nesting, Problem::PathNesting(levels));
        }
    }

    fn name(&mut self) -> Result<Name, ExpressionError> {
        let text = self.tokens.text();
        let name = match self.tokens.peek() {
            TokenKind::Name => {
                if is_reserved(text) {
                    self.report(Finding::ReservedWord, Problem::ReservedWord(text.to_owned()));
                }
                Name::Plain(text.into())
            }
            TokenKind::NamePlaceholder => Name::Placeholder(text.to_owned()),
            _ => return Err(self.syntax_error()),
        };
        self.tokens.advance();
        Ok(name)
    }

    fn index(&mut self) -> Result<usize, ExpressionError> {
        if self.tokens.peek() != TokenKind::Number {
            return Err(self.syntax_error());
        }
        let text = self.tokens.text();
        self.tokens.advance();
        let index = text.parse::<usize>().ok().filter(|index| *index <= MAX_INDEX);
        if index.is_none() {
            self.report(Finding::Index, Problem::ListIndex(text.to_owned()));
        }
        Ok(index.unwrap_or(0))
    }

    /// Parses a path, a value or a function call, which may be in parentheses.
    pub(crate) fn operand(&mut self) -> Result<OperandSyntax, ExpressionError> {
        let mut open = 0;
        while self.tokens.accept(TokenKind::OpenParenthesis) {
            self.enter()?;
            open += 1;
        }
        let mut operand = self.bare_operand()?;
        let mut enclosed = false;
        for _ in 0..open {
            self.leave()?;
            if enclosed {
                self.report(Finding::Parentheses, Problem::RedundantParentheses);
            }
            (operand, enclosed) = self.after_parentheses(operand)?;
        }
        Ok(operand)
    }

    /// Parses what follows the parentheses around an operand. In a condition, a path may continue: `(a.b).c`.
    /// Returns whether the operand is still enclosed.
    pub(crate) fn after_parentheses(
        &mut self,
        mut operand: OperandSyntax,
    ) -> Result<(OperandSyntax, bool), ExpressionError> {
        let continues = matches!(self.tokens.peek(), TokenKind::Dot | TokenKind::OpenBracket);
        if continues && self.kind != ExpressionKind::Update {
            let OperandSyntax::Path(path) = &mut operand else { return Err(self.syntax_error()) };
            self.steps(path)?;
            return Ok((operand, false));
        }
        Ok((operand, true))
    }

    pub(crate) fn bare_operand(&mut self) -> Result<OperandSyntax, ExpressionError> {
        match self.tokens.peek() {
            TokenKind::ValuePlaceholder => {
                let placeholder = self.tokens.text().to_owned();
                self.tokens.advance();
                Ok(OperandSyntax::Value(ValueSyntax::Placeholder(placeholder)))
            }
            TokenKind::Name if self.tokens.peek_second() == TokenKind::OpenParenthesis => {
                self.call().map(OperandSyntax::Call)
            }
            _ => self.path().map(OperandSyntax::Path),
        }
    }

    fn call(&mut self) -> Result<FunctionCall, ExpressionError> {
        let function = self.function(self.tokens.text());
        self.tokens.advance();
        self.count_operator();
        self.expect(TokenKind::OpenParenthesis)?;
        self.enter_call()?;
        let operands = self.operands()?;
        self.leave_call()?;
        Ok(FunctionCall { function, operands })
    }

    /// Parses operands separated by commas. Calls among them must return a value.
    pub(crate) fn operands(&mut self) -> Result<Vec<OperandSyntax>, ExpressionError> {
        let mut operands = Vec::new();
        loop {
            let operand = self.operand()?;
            self.check_operand(&operand);
            operands.push(operand);
            if !self.tokens.accept(TokenKind::Comma) {
                return Ok(operands);
            }
        }
    }

    /// Reports a call whose result is not a value: only those of `size` and `if_not_exists` can be operands.
    pub(crate) fn check_operand(&mut self, operand: &OperandSyntax) {
        if let OperandSyntax::Call(FunctionCall { function, .. }) = operand
            && !matches!(function, Function::Size | Function::IfNotExists)
        {
            self.report(Finding::Misuse, Problem::MisusedFunction(function.name()));
        }
    }

    /// Looks up a function. An unknown one is reported and replaced by another: the tree will not be used.
    fn function(&mut self, name: &str) -> Function {
        let is_update = self.kind == ExpressionKind::Update;
        let Some(function) = Function::from_name(name) else {
            self.report(Finding::Function, Problem::UnknownFunction(name.to_owned()));
            return if is_update { Function::IfNotExists } else { Function::Size };
        };
        if function.is_for_updates() != is_update {
            let expression = match self.kind {
                ExpressionKind::Condition => "a condition expression",
                ExpressionKind::Filter => "a filter expression",
                ExpressionKind::KeyCondition => "a key condition expression",
                ExpressionKind::Projection => "a projection expression",
                ExpressionKind::Update => "an update expression",
            };
            self.report(Finding::Function, Problem::ForeignFunction(expression, function.name()));
        }
        function
    }
}
