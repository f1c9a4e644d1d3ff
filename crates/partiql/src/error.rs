//! All error messages of this crate, in AWS's wording.

use crate::syntax::token::SourceSpan;
use partita_expression::ExpressionError;
use partita_value::NumberError;

/// An error that AWS reports as a `ValidationException`; `Display` is the whole message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StatementError(Box<Problem>);

impl StatementError {
    /// The text cannot be tokenized; AWS's message has no details.
    pub(crate) fn untokenizable() -> StatementError {
        Problem::NotWellFormed("").into()
    }
}

impl From<Problem> for StatementError {
    fn from(problem: Problem) -> StatementError {
        StatementError(Box::new(problem))
    }
}

impl From<ExpressionError> for StatementError {
    fn from(error: ExpressionError) -> StatementError {
        Problem::Expression(error).into()
    }
}

/// What can be wrong, with AWS's messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("Statement wasn't well formed, can't be processed: {0}")]
    NotWellFormed(&'static str),
    #[error("Unsupported operation: {0}")]
    UnsupportedOperation(&'static str),
    #[error("Unsupported clause: {0}")]
    UnsupportedClause(&'static str),
    #[error("Number of parameters in request and statement don't match.")]
    ParameterCount,
    #[error("{0}")]
    Expression(ExpressionError),

    // Tables and indexes.
    #[error("Aliasing is not supported")]
    Alias,
    #[error("Only select from a single table or index is supported.")]
    SeveralSources,
    #[error("Unexpected from source")]
    UnexpectedSource,
    #[error("A path may contain at most 2 components in the FROM clause")]
    LongSource,
    #[error("Path component cannot be an empty string")]
    EmptySource,
    #[error("Invalid list expression in source.")]
    ListSource,
    #[error(
        "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'."
    )]
    TableName,
    #[error("FROM clause may only contain a single table name")]
    InsertIntoIndex,
    #[error("This operation is not supported on an index")]
    WriteToIndex,

    // Paths, values and functions.
    #[error("Unexpected path component at {0}")]
    UnexpectedPath(SourceSpan),
    #[error("Wildcard path component like a[*].b are not supported")]
    Wildcard,
    #[error("Unpivot path component like a.*.b are not supported")]
    Unpivot,
    #[error("List index is not within the allowable range; index: [{0}] at {1}")]
    ListIndex(String, SourceSpan),
    #[error("The document path has too many nesting levels; nesting levels: {0}")]
    PathNesting(usize),
    #[error("{0} under {1}")]
    Number(NumberError, String),
    #[error("Nesting Levels have exceeded supported limits under {0}")]
    ValueNesting(String),
    #[error("Unsupported data type: {0} under key {1} at {2}")]
    DataType(String, String, SourceSpan),
    #[error("Empty bags are not supported at {0}")]
    EmptyBag(SourceSpan),
    #[error("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags")]
    MixedBag,
    #[error("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags at {0}")]
    BagMember(SourceSpan),
    #[error("One or more parameter values were invalid: Input collection [{0}] contains duplicates.")]
    DuplicateTexts(String),
    #[error(
        "One or more parameter values were invalid: Input collection [{0}] contains duplicates! under {1}"
    )]
    DuplicateNumbers(String, String),
    #[error("Tuple keys must be of type String. Actual type: {0} under {1}")]
    NameType(&'static str, String),
    #[error("Duplicate keys in tuple. Key: {0} under {1}")]
    DuplicateName(String, String),
    #[error("Empty attribute name")]
    EmptyName,
    #[error("Unrecognized function: {0} at {1}")]
    UnknownFunction(String, SourceSpan),
    #[error("Invalid attribute type name found; type: {0}, valid types: {{N,BS,L,B,NULL,M,S,SS,NS,BOOL}}")]
    UnknownType(String),

    // Conditions.
    #[error("WHERE clause must contain an expression that resolves to a boolean")]
    NoCondition,
    #[error("The arguments to AND/OR must be Expressions")]
    JoinedOperand,
    #[error("The argument to NOT must be a Type or Expression")]
    NegatedOperand,
    #[error("Unsupported operator in Condition Expression. Operator: {0}")]
    ConditionOperator(&'static str),
    #[error("MISSING must be compared using IS operator")]
    MissingLiteral,
    #[error("The left hand side argument to IS must be a Variable Reference, Literal, or Path")]
    IsOperand,
    #[error(
        "Unsupported data type for IS operator: {0}. Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]"
    )]
    IsType(String),
    #[error(
        "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member"
    )]
    InOperand,

    // SELECT.
    #[error("Select projection doesn't support value or pivot keywords")]
    SelectValue,
    #[error("Other attributes should not be present in the projection when '*' is used.")]
    StarAndOthers,
    #[error("Changing item's hierarchy while reading isn't supported")]
    NestedStar,
    #[error("Duplicate identifiers in select clause: {0}")]
    DuplicateColumn(String),
    #[error("Argument to ORDER BY must be of type VariableReference. Type: {0}")]
    OrderExpression(&'static str),
    #[error("Must have WHERE clause in the statement when using ORDER BY clause.")]
    OrderWithoutCondition,
    #[error("Attribute {0} in ORDER BY clause must be part of the primary key")]
    OrderAttribute(String),
    #[error(
        "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
    )]
    OrderWithoutKey,
    #[error(
        "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
    )]
    OrderOfSeveralKeys,
    #[error("Too many decomposed read operations for a given query.")]
    TooManyReads,
    #[error("Key attribute's data type should match its data type in table's schema: Key {0}")]
    KeyType(String),

    // INSERT.
    #[error(
        "Unsupported operation: Inserting multiple items in a single statement is not supported, use \"INSERT INTO tableName VALUE item\" instead"
    )]
    SeveralItems,
    #[error(
        "Unsupported format in item expression. Please use struct format {{...}} to express item values for insert statement."
    )]
    ItemFormat,
    #[error("RETURNING is not supported in INSERT")]
    InsertReturning,

    // UPDATE and DELETE.
    #[error("Unsupported operator in Update Expression. Operator: {0}")]
    UpdateOperator(&'static str),
    #[error("IS operator is not supported in update expressions")]
    IsInUpdate,
    #[error("{0} must have exactly two arguments at {1}")]
    SetArguments(&'static str, SourceSpan),
    #[error("The first argument to {0} must equal the assignment value at {1}")]
    SetTarget(&'static str, SourceSpan),
    #[error("The second argument to {0} must be a value with type SET at {1}")]
    SetOperand(&'static str, SourceSpan),
    #[error("Invalid syntax with multiple returning elements in RETURNING clause")]
    SeveralReturning,
    #[error("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")]
    ReturningStar,
    #[error(
        "Invalid returning clause: RETURNING {0} *. Only RETURNING ALL OLD * is allowed in DELETE statements."
    )]
    DeleteReturning(&'static str),
    #[error("Where clause does not contain a mandatory equality on all key attributes")]
    IncompleteKey,
    #[error("Multiple conditions on same key {0}. Only single item Update/Insert/Delete are supported")]
    RepeatedKey(String),
}
