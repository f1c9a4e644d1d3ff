//! All error messages of this crate.
//!
//! A [`Problem`] becomes an [`ExpressionError`], whose `Display` is AWS's message. Callers return the message
//! and never inspect it.

use crate::{ExpressionKind, Path};
use partita_value::{NumberError, ValueRef};

/// An error that AWS reports as a `ValidationException`; `Display` is the whole message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExpressionError(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("Invalid {0}: {1}")]
    Expression(ExpressionKind, Problem),
    #[error("{0}")]
    Request(Problem),
}

/// What can be wrong, with AWS's messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    // Found in the text alone.
    #[error("The expression can not be empty;")]
    Empty,
    #[error("Expression size has exceeded the maximum allowed size;{}", .0.map(|size| format!(" expression size: {size}")).unwrap_or_default())]
    TooLong(Option<usize>),
    #[error("Syntax error; token: \"{token}\", near: \"{near}\"")]
    Syntax { token: String, near: String },
    #[error("The expression has redundant parentheses;")]
    RedundantParentheses,
    #[error("The expression contains too many operators; operator count: {0}")]
    TooManyOperators(usize),
    #[error("List index is not within the allowable range; index: [{0}]")]
    ListIndex(String),
    #[error("The document path has too many nesting levels; nesting levels: {0}")]
    PathNesting(usize),
    #[error("Invalid function name; function: {0}")]
    UnknownFunction(String),
    #[error("The function is not allowed in {0}; function: {1}")]
    ForeignFunction(&'static str, &'static str),
    #[error("The function is not allowed to be used this way in an expression; function: {0}")]
    MisusedFunction(&'static str),
    #[error("Attribute name is a reserved keyword; reserved keyword: {0}")]
    ReservedWord(String),
    #[error("The \"{0}\" section can only be used once in an update expression;")]
    RepeatedSection(&'static str),

    // Found in the text with its names and values.
    #[error("An expression attribute name used in the document path is not defined; attribute name: {0}")]
    UndefinedName(String),
    #[error("An expression attribute value used in expression is not defined; attribute value: {0}")]
    UndefinedValue(String),
    #[error(
        "Incorrect number of operands for operator or function; operator or function: {0}, number of operands: {1}"
    )]
    OperandCount(&'static str, usize),
    #[error("The IN operator is provided with too many operands; number of operands: {0}")]
    TooManyInOperands(usize),
    #[error(
        "The first operand must be distinct from the remaining operands for this operator or function; operator: {0}, first operand: {1}"
    )]
    SameOperands(&'static str, Path),
    #[error("Operator or function requires a document path; operator or function: {0}")]
    PathRequired(&'static str),
    #[error("Incorrect operand type for operator or function; operator or function: {0}, operand type: {1}")]
    OperandType(&'static str, &'static str),
    #[error("Incorrect operand type for operator or function; operator: {0}, operand type: {1}")]
    ActionOperandType(&'static str, &'static str),
    #[error("Invalid attribute type name found; type: {0}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}")]
    UnknownType(String),
    #[error(
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {{{0}}}, upper bound operand: AttributeValue: {{{1}}}"
    )]
    BoundTypes(String, String),
    #[error(
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {{{0}}}, upper bound operand: AttributeValue: {{{1}}}"
    )]
    BoundOrder(String, String),
    #[error(
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: {0}, path two: {1}"
    )]
    PathsOverlap(Path, Path),
    #[error(
        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: {0}, path two: {1}"
    )]
    PathsConflict(Path, Path),

    // Found in the maps of names and values.
    #[error("{0} must not be empty")]
    EmptyMap(&'static str),
    #[error("{0} contains invalid key: Syntax error; key: \"{1}\"")]
    PlaceholderSyntax(&'static str, String),
    #[error(
        "{0} contains invalid key: The expression attribute map contains a key that is too long; key: \"{1}\""
    )]
    PlaceholderLength(&'static str, String),
    #[error("Value provided in {0} unused in expressions: keys: {{{1}}}")]
    Unused(&'static str, String),
    #[error("ExpressionAttributeNames can only be specified when using expressions")]
    NamesWithoutExpression,
    #[error("ExpressionAttributeValues can only be specified when using expressions: {0}")]
    ValuesWithoutExpression(String),
    #[error(
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {{{0}}} Expression parameters: {{{1}}}"
    )]
    MixedParameters(String, String),

    // Key conditions.
    #[error("Invalid operator used in KeyConditionExpression: {0}")]
    KeyOperator(&'static str),
    #[error("KeyConditionExpressions cannot contain nested operations")]
    KeyNestedOperation,
    #[error(
        "Invalid condition in KeyConditionExpression: {0} operator must have the key attribute as its first operand"
    )]
    KeyFirstOperand(&'static str),
    #[error("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")]
    KeyTwoAttributes,
    #[error("KeyConditionExpressions cannot have conditions on nested attributes")]
    KeyNestedAttribute,
    #[error("Invalid condition in KeyConditionExpression: No key attribute specified")]
    KeyNoAttribute,
    #[error("KeyConditionExpressions must only contain one condition per key")]
    KeyRepeated,

    // Legacy parameters.
    #[error(
        "One or more parameter values were invalid: Invalid number of argument(s) for the {0} ComparisonOperator"
    )]
    LegacyOperandCount(&'static str),
    #[error(
        "One or more parameter values were invalid: AttributeValues inside AttributeValueList must be of same type"
    )]
    LegacyMixedTypes,
    #[error(
        "One or more parameter values were invalid: ComparisonOperator {0} is not valid for {1} AttributeValue type"
    )]
    LegacyOperandType(&'static str, &'static str),
    #[error(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    )]
    LegacyBoundOrder,
    #[error("One or more parameter values were invalid: ADD action is not supported for the type {0}")]
    LegacyAddType(&'static str),
    #[error(
        "One or more parameter values were invalid: DELETE action with value is not supported for the type {0}"
    )]
    LegacyDeleteType(&'static str),
    #[error("Type mismatch for attribute to update")]
    LegacyTypeMismatch,

    // Found when applied to the stored item.
    #[error("The document path provided in the update expression is invalid for update")]
    InvalidUpdatePath,
    #[error("An operand in the update expression has an incorrect data type")]
    UpdateOperandType,
    #[error("The provided expression refers to an attribute that does not exist in the item")]
    MissingAttribute,
    #[error("Item size to update has exceeded the maximum allowed size")]
    ItemSize,
    #[error(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
    )]
    NestingLevels,
    #[error("{0}")]
    Number(NumberError),
}

impl Problem {
    /// Wraps a problem in one of the request's expressions, which the message names.
    pub(crate) fn in_expression(self, kind: ExpressionKind) -> ExpressionError {
        ExpressionError(Box::new(Fault::Expression(kind, self)))
    }
}

impl From<Problem> for ExpressionError {
    /// Wraps a problem whose message names no expression.
    fn from(problem: Problem) -> ExpressionError {
        ExpressionError(Box::new(Fault::Request(problem)))
    }
}

impl From<NumberError> for ExpressionError {
    fn from(error: NumberError) -> ExpressionError {
        Problem::Number(error).into()
    }
}

/// Returns a value as AWS prints it between braces: `N:5`.
pub fn print_value(value: ValueRef<'_>) -> String {
    let content = match value {
        ValueRef::S(bytes) | ValueRef::N(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::B(bytes) => format!("java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]", bytes.len()),
        _ => String::new(),
    };
    format!("{}:{content}", value.type_name())
}
