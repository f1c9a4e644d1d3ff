//! What all parsers share: paths, function calls, and the findings that do not stop the parsing.
//!
//! In comes a text; out go parts of a syntax tree. A syntax error ends the parsing at once. Everything
//! else that the text alone shows is kept as a [`Finding`], because AWS reports the findings of the whole
//! text in an order of its own.

use crate::error::Problem;
use crate::reserved_words::is_reserved;
use crate::syntax::{Function, FunctionCall, Name, OperandSyntax, PathStep, PathSyntax, ValueSyntax};
use crate::token::{TokenKind, Tokens};
use crate::{ExpressionError, ExpressionKind};
use partita_value::limits::{EXPRESSION_BYTES, EXPRESSION_OPERATORS, NESTING_LEVELS};

/// Parentheses in parentheses. Each level of a valid expression needs an operator or a function, so a
/// valid one stays below; beyond, walking over the tree could use up the stack.
const DEPTH: usize = EXPRESSION_OPERATORS + 20;

/// Calls in calls, and parentheses in updates: these are read recursively.
const CALL_DEPTH: usize = 50;

/// The largest index AWS reads.
const LARGEST_INDEX: usize = i32::MAX as usize;

/// What is wrong with a text that can be parsed.
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
                let tokens = Tokens::of(text);
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

    /// The error for the next token, which fits nowhere.
    pub(crate) fn misfit(&self) -> ExpressionError {
        self.tokens.misfit().in_expression(self.kind)
    }

    pub(crate) fn expect(&mut self, kind: TokenKind) -> Result<(), ExpressionError> {
        if self.tokens.accept(kind) { Ok(()) } else { Err(self.misfit()) }
    }

    /// Keeps the first finding of each sort.
    pub(crate) fn find(&mut self, finding: Finding, problem: Problem) {
        if self.found(finding).is_none() {
            self.findings.push((finding, problem));
        }
    }

    fn found(&self, finding: Finding) -> Option<&Problem> {
        self.findings.iter().find(|(sort, _)| *sort == finding).map(|(_, problem)| problem)
    }

    pub(crate) fn operator(&mut self) {
        self.operators += 1;
        if self.operators > EXPRESSION_OPERATORS {
            self.find(Finding::Operators, Problem::TooManyOperators(EXPRESSION_OPERATORS + 1));
        }
    }

    /// The text must end here; then the findings are reported, the most important sort first, too deep paths
    /// last.
    pub(crate) fn finish(mut self, order: &[Finding]) -> Result<(), ExpressionError> {
        self.expect(TokenKind::End)?;
        match order.iter().chain(&[Finding::Nesting]).find_map(|finding| self.found(*finding)) {
            Some(problem) => Err(problem.clone().in_expression(self.kind)),
            None => Ok(()),
        }
    }

    /// Goes into parentheses; [`Parser::leave`] goes out.
    pub(crate) fn enter(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self) -> Result<(), ExpressionError> {
        self.depth -= 1;
        self.expect(TokenKind::CloseParenthesis)
    }

    /// Goes into parentheses whose content is read recursively; [`Parser::leave_call`] goes out.
    pub(crate) fn enter_call(&mut self) -> Result<(), ExpressionError> {
        self.call_depth += 1;
        if self.call_depth > CALL_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    pub(crate) fn leave_call(&mut self) -> Result<(), ExpressionError> {
        self.call_depth -= 1;
        self.expect(TokenKind::CloseParenthesis)
    }

    fn too_deep(&mut self) -> ExpressionError {
        let problem = self.tokens.parenthesis_problem().or_else(|| self.found(Finding::Function).cloned());
        problem.unwrap_or(Problem::TooManyOperators(EXPRESSION_OPERATORS + 1)).in_expression(self.kind)
    }

    pub(crate) fn path(&mut self) -> Result<PathSyntax, ExpressionError> {
        let root = self.name()?;
        let mut path = PathSyntax { root, steps: Vec::new() };
        self.steps(&mut path)?;
        Ok(path)
    }

    /// Reads `.name` and `[index]` behind a path, as many as there are.
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
            self.find(Finding::Nesting, Problem::PathNesting(levels));
        }
    }

    fn name(&mut self) -> Result<Name, ExpressionError> {
        let text = self.tokens.text();
        let name = match self.tokens.peek() {
            TokenKind::Name => {
                if is_reserved(text) {
                    self.find(Finding::ReservedWord, Problem::ReservedWord(text.to_owned()));
                }
                Name::Plain(text.into())
            }
            TokenKind::NamePlaceholder => Name::Placeholder(text.to_owned()),
            _ => return Err(self.misfit()),
        };
        self.tokens.advance();
        Ok(name)
    }

    fn index(&mut self) -> Result<usize, ExpressionError> {
        if self.tokens.peek() != TokenKind::Number {
            return Err(self.misfit());
        }
        let text = self.tokens.text();
        self.tokens.advance();
        let index = text.parse::<usize>().ok().filter(|index| *index <= LARGEST_INDEX);
        if index.is_none() {
            self.find(Finding::Index, Problem::ListIndex(text.to_owned()));
        }
        Ok(index.unwrap_or(0))
    }

    /// A path, a value or a function call, perhaps in parentheses.
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
                self.find(Finding::Parentheses, Problem::RedundantParentheses);
            }
            (operand, enclosed) = self.behind_parentheses(operand)?;
        }
        Ok(operand)
    }

    /// In a condition the path in parentheses may go on behind them: `(a.b).c`.
    pub(crate) fn behind_parentheses(
        &mut self,
        mut operand: OperandSyntax,
    ) -> Result<(OperandSyntax, bool), ExpressionError> {
        let goes_on = matches!(self.tokens.peek(), TokenKind::Dot | TokenKind::OpenBracket);
        if goes_on && self.kind != ExpressionKind::Update {
            let OperandSyntax::Path(path) = &mut operand else { return Err(self.misfit()) };
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
        self.operator();
        self.expect(TokenKind::OpenParenthesis)?;
        self.enter_call()?;
        let operands = self.operands()?;
        self.leave_call()?;
        Ok(FunctionCall { function, operands })
    }

    /// Operands between commas. The only calls among them are those that give a value.
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

    /// Only `size` and `if_not_exists` give a value that another function or operator may take.
    pub(crate) fn check_operand(&mut self, operand: &OperandSyntax) {
        if let OperandSyntax::Call(FunctionCall { function, .. }) = operand
            && !matches!(function, Function::Size | Function::IfNotExists)
        {
            self.find(Finding::Misuse, Problem::MisusedFunction(function.name()));
        }
    }

    /// An unknown function is found, and any other put in its place: the tree will not be used.
    fn function(&mut self, name: &str) -> Function {
        let is_update = self.kind == ExpressionKind::Update;
        let Some(function) = Function::named(name) else {
            self.find(Finding::Function, Problem::UnknownFunction(name.to_owned()));
            return if is_update { Function::IfNotExists } else { Function::Size };
        };
        if function.updates() != is_update {
            let place = match self.kind {
                ExpressionKind::Condition => "a condition expression",
                ExpressionKind::Filter => "a filter expression",
                ExpressionKind::KeyCondition => "a key condition expression",
                ExpressionKind::Projection => "a projection expression",
                ExpressionKind::Update => "an update expression",
            };
            self.find(Finding::Function, Problem::ForeignFunction(place, function.name()));
        }
        function
    }
}
