//! Syntax trees of statements, which depend on the text alone, and their parsers.

pub(crate) mod expression_parser;
mod keyword;
pub(crate) mod statement_parser;
pub(crate) mod token;

use crate::syntax::token::SourceSpan;

/// A value or condition in a statement, and its position in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpressionKind {
    Text(String),
    /// As written, with its sign.
    Number(String),
    Boolean(bool),
    Null,
    Missing,
    /// `?`, counted from zero.
    Parameter(usize),
    Path(PathExpression),
    Call(String, Vec<Expression>),
    List(Vec<Expression>),
    Bag(Vec<Expression>),
    /// Names are expressions too, but only strings are allowed.
    Map(Vec<(Expression, Expression)>),
    /// At least two.
    And(Vec<Expression>),
    /// At least two.
    Or(Vec<Expression>),
    Not(Box<Expression>),
    /// Comparison or arithmetic, by its symbol.
    Infix(&'static str, Box<Expression>, Box<Expression>),
    /// A sign before something other than a number.
    Sign(&'static str, Box<Expression>),
    /// `operand BETWEEN from AND to`
    Between(Box<Expression>, Box<Expression>, Box<Expression>),
    In(Box<Expression>, Box<Expression>),
    /// The type's name.
    Is(Box<Expression>, &'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathExpression {
    pub(crate) root: String,
    pub(crate) steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathStep {
    Attribute(String),
    /// A number as written, with its sign, and its position.
    Index(String, SourceSpan),
}

/// The columns of a SELECT.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selected {
    All,
    Expressions(Vec<Expression>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderSyntax {
    pub(crate) by: Expression,
    pub(crate) descending: bool,
}

/// `"Table"` or `"Table"."Index"`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) table: String,
    pub(crate) index: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectSyntax {
    pub(crate) selected: Selected,
    pub(crate) source: Source,
    pub(crate) condition: Option<Expression>,
    pub(crate) order: Vec<OrderSyntax>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UpdateAction {
    Set(PathExpression, Expression),
    Remove(PathExpression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReturningSyntax {
    pub(crate) modified: bool,
    pub(crate) new: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StatementSyntax {
    Select(SelectSyntax),
    Exists(SelectSyntax),
    Insert {
        source: Source,
        item: Expression,
    },
    Update {
        source: Source,
        actions: Vec<UpdateAction>,
        condition: Option<Expression>,
        returning: Option<ReturningSyntax>,
    },
    Delete {
        source: Source,
        condition: Option<Expression>,
        returning: Option<ReturningSyntax>,
    },
}

/// A statement and its number of parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParsedStatement {
    pub(crate) syntax: StatementSyntax,
    pub(crate) parameters: usize,
}
